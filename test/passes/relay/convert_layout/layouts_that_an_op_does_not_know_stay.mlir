// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=vision.roi_align:CHWN,nn.lrn:NHWC,nn.conv2d:default}' | filecheck %s
// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=vision.roi_align:NHWC,nn.conv2d:CHWN}' | filecheck %s --check-prefix=SOME
// roi_align works on NCHW and NHWC alone; the axis of nn.lrn is an attribute of its own, so nothing is asked of it.

// CHECK-NOT: layout_transform
// CHECK:     return
// SOME:      relay.layout_transform %w
// SOME-NEXT: relay.nn.conv2d {{.*}} {data_layout = "CHWN"
// SOME-NEXT: relay.nn.lrn {{.*}} {axis = 0
// SOME:      relay.vision.roi_align {{.*}} {layout = "NHWC"
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %rois: tensor<2x5xf32>) -> tensor<2x4x2x2xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %l = relay.nn.lrn %c {size = 3} : tensor<1x4x8x8xf32>
  %r = relay.vision.roi_align %l, %rois {pooled_size = [2, 2], spatial_scale = 1.0} : (tensor<1x4x8x8xf32>, tensor<2x5xf32>) -> tensor<2x4x2x2xf32>
  return %r : tensor<2x4x2x2xf32>
}
