// RUN: opt-tool %s -p relay-forward-fold-scale-axis | filecheck %s

// CHECK:      [[W:%.*]] = relay.constant #relay.param<"w/multiply", "{{[0-9a-f]+}}"> : tensor<4x8xf32>
// CHECK-NEXT: %d = relay.nn.dense %x, [[W]]
// CHECK-NEXT: %z = relay.multiply %d, %t
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<4x8xf32>
  %s = relay.constant dense<2.0> : tensor<8xf32>
  %t = relay.constant dense<3.0> : tensor<4xf32>
  %y = relay.multiply %x, %s : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %d = relay.nn.dense %y, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %z = relay.multiply %d, %t : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
