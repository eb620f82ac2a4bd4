// RUN: opt-tool %s -p relay-simplify-inference,relay-fold-constant,relay-fold-scale-axis | filecheck %s

// CHECK:      [[W:%.*]] = relay.constant #relay.param<"w/multiply", "{{[0-9a-f]+}}"> : tensor<8x3x3x3xf32>
// CHECK-NEXT: [[C:%.*]] = relay.nn.conv2d %x, [[W]] {padding = [1, 1]}
// CHECK-NOT:  relay.multiply
// CHECK:      %y = relay.add [[C]], {{%.*}} : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
func.func @main(%x: tensor<1x3x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %g = relay.constant dense<2.0> : tensor<8xf32>
  %b = relay.constant dense<0.5> : tensor<8xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.nn.batch_norm %c, %g, %b, %b, %g
    : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
