// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s

// CHECK:      %w = relay.constant #relay.param
// CHECK-NEXT: [[F:%fused_nn_conv2d_add_add_nn_relu]] = relay.fn
// CHECK-SAME: (%p0: tensor<1x3x6x6xf32>, %p1: tensor<8x3x3x3xf32>, %p2: tensor<1x8x6x6xf32>)
// CHECK-SAME: attributes {Primitive = 1 : i64} {
// CHECK:        relay.constant dense<5.000000e-01> : tensor<f32>
// CHECK:        relay.nn.relu
// CHECK-NEXT:   relay.return
// CHECK:      %y = relay.call [[F]](%x, %w, %r)
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<1x3x6x6xf32>, %r: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %half = relay.constant dense<0.5> : tensor<f32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %b = relay.add %c, %half : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %a = relay.add %b, %r : tensor<1x8x6x6xf32>
  %y = relay.nn.relu %a : tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
