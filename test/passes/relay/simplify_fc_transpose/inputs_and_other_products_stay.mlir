// RUN: opt-tool %s -p relay-simplify-fc-transpose | filecheck %s

// CHECK-COUNT-2: relay.transpose
func.func @main(%x: tensor<2x8xf32>, %v: tensor<8x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %t = relay.transpose %v {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = relay.nn.dense %x, %t : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<4x8xf32>
  %u = relay.transpose %w {axes = [1, 0]} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %z = relay.nn.matmul %x, %u : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}
