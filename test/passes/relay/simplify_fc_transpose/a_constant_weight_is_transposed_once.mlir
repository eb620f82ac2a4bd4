// RUN: opt-tool %s -p relay-simplify-fc-transpose | filecheck %s

// CHECK:      %t = relay.constant #relay.param<"w/transpose", "{{[0-9a-f]+}}"> : tensor<4x8xf32>
// CHECK-NEXT: %y = relay.nn.dense %x, %t
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x4xf32>
  %t = relay.transpose %w {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = relay.nn.dense %x, %t : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
