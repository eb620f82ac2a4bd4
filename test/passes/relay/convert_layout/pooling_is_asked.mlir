// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.max_pool2d:NHWC,nn.adaptive_avg_pool2d:NHWC:default}' | filecheck %s
// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.max_pool2d:NCHW}' | filecheck %s --check-prefix=SAME
// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.max_pool2d:default}' | filecheck %s --check-prefix=SAME
// An op that has no kernel is asked about its data alone; where it has that layout nothing happens.

// CHECK:      %0 = relay.layout_transform %x {dst_layout = "NHWC", src_layout = "NCHW"}
// CHECK-NEXT: %p = relay.nn.max_pool2d %0 {layout = "NHWC", pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: %a = relay.nn.adaptive_avg_pool2d %p {layout = "NHWC", output_size = [1, 1]}
// CHECK-NEXT: relay.layout_transform %a {dst_layout = "NCHW", src_layout = "NHWC"}
// SAME:       %p = relay.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]}
// SAME-NEXT:  %a = relay.nn.adaptive_avg_pool2d %p {output_size = [1, 1]}
// SAME-NEXT:  return
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32> {
  %p = relay.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %a = relay.nn.adaptive_avg_pool2d %p {output_size = [1, 1]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
  return %a : tensor<1x3x1x1xf32>
}
