// RUN: opt-tool %s -p relay-fold-transpose,relay-dead-code-elimination | filecheck %s
// The transpose is used by both products; it goes once nobody needs it.

// CHECK:      func.func @main
// CHECK-NEXT:   %y = relay.nn.matmul %a, %b {transpose_b = true}
// CHECK-NEXT:   %z = relay.nn.matmul %c, %b {transpose_b = true}
// CHECK-NEXT:   %u = relay.nn.matmul %a, %d :
// CHECK-NEXT:   func.return
func.func @main(%a: tensor<2x4xf32>, %b: tensor<8x4xf32>, %c: tensor<3x4xf32>, %d: tensor<4x5xf32>)
    -> (tensor<2x8xf32>, tensor<3x8xf32>, tensor<2x5xf32>) {
  %t = relay.transpose %b {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = relay.nn.matmul %a, %t : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %z = relay.nn.matmul %c, %t : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  %w = relay.transpose %d : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %u = relay.nn.dense %a, %w : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  return %y, %z, %u : tensor<2x8xf32>, tensor<3x8xf32>, tensor<2x5xf32>
}
