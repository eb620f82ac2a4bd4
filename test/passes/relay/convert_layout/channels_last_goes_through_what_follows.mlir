// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default}' | filecheck %s
// The weights are folded; the mean over the image needs no way back.

// CHECK:      [[X:%.*]] = relay.layout_transform %x {dst_layout = "NHWC", src_layout = "NCHW"}
// CHECK-NEXT: [[W:%.*]] = relay.constant #relay.param<"w/layout_transform", "{{[0-9a-f]+}}"> : tensor<3x3x3x8xf32>
// CHECK-NEXT: %c = relay.nn.conv2d [[X]], [[W]] {data_layout = "NHWC", kernel_layout = "HWIO", padding = [1, 1]}
// CHECK-NEXT: %d = relay.nn.bias_add %c, %b {axis = 3}
// CHECK-NEXT: [[S:%.*]] = relay.reshape %s {newshape = [1, 1, 1, 8]}
// CHECK-NEXT: %e = relay.multiply %d, [[S]]
// CHECK-NEXT: %f = relay.nn.max_pool2d %e {layout = "NHWC", pool_size = [2, 2], strides = [2, 2]}
// CHECK-NEXT: %g = relay.concatenate %f, %f {axis = 3}
// CHECK-NEXT: %h = relay.mean %g {axis = [1, 2]} : (tensor<1x3x3x16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: func.return %h
func.func @main(%x: tensor<1x3x6x6xf32>, %b: tensor<8xf32>, %s: tensor<8x1x1xf32>) -> tensor<1x16xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %d = relay.nn.bias_add %c, %b : (tensor<1x8x6x6xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %e = relay.multiply %d, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %f = relay.nn.max_pool2d %e {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %g = relay.concatenate %f, %f {axis = 1} : (tensor<1x8x3x3xf32>, tensor<1x8x3x3xf32>) -> tensor<1x16x3x3xf32>
  %h = relay.mean %g {axis = [2, 3]} : (tensor<1x16x3x3xf32>) -> tensor<1x16xf32>
  return %h : tensor<1x16xf32>
}
