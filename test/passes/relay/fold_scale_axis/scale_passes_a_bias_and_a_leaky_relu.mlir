// RUN: opt-tool %s -p relay-fold-scale-axis | filecheck %s

// CHECK:      [[W:%.*]] = relay.constant #relay.param<"w/multiply", "{{[0-9a-f]+}}"> : tensor<8x3x3x3xf32>
// CHECK-NEXT: [[C:%.*]] = relay.nn.conv2d %x, [[W]]
// CHECK-NEXT: [[B:%.*]] = relay.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: [[D:%.*]] = relay.nn.bias_add [[C]], [[B]]
// CHECK-NEXT: %y = relay.nn.leaky_relu [[D]] {alpha = 0.2}
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<1x3x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %b = relay.constant dense<0.5> : tensor<8xf32>
  %s = relay.constant dense<2.0> : tensor<8x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %d = relay.nn.bias_add %c, %b : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.leaky_relu %d {alpha = 0.2} : tensor<1x8x4x4xf32>
  %y = relay.multiply %r, %s : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}
