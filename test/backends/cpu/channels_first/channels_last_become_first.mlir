// RUN: opt-tool %s -p cpu-channels-first | filecheck %s
// RUN: lamina compile --print-pipeline | filecheck %s --check-prefix=PLACE
// The moves stand at the ends; what is between follows.

// PLACE: relay-fold-transpose,cpu-channels-first,cpu-flat-convolutions
// CHECK:      relay.layout_transform %x {dst_layout = "NCHW", src_layout = "NHWC"}
// CHECK:      %a = relay.nn.conv2d {{.*}} -> tensor<1x16x9x9xf32>
// CHECK-NEXT: %b = relay.nn.relu %a : tensor<1x16x9x9xf32>
// CHECK-NOT:  relay.layout_transform %b
// CHECK:      %c = relay.nn.conv2d %b
// CHECK-NEXT: relay.layout_transform %c {dst_layout = "NHWC", src_layout = "NCHW"}
func.func @main(%x: tensor<1x9x9x8xf32>, %v: tensor<3x3x8x16xf32>, %w: tensor<1x1x16x4xf32>) -> tensor<1x9x9x4xf32> {
  %a = relay.nn.conv2d %x, %v {padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x9x9x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x9x9x16xf32>
  %b = relay.nn.relu %a : tensor<1x9x9x16xf32>
  %c = relay.nn.conv2d %b, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x9x9x16xf32>, tensor<1x1x16x4xf32>) -> tensor<1x9x9x4xf32>
  return %c : tensor<1x9x9x4xf32>
}
