// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// The gradient of an op that is its decomposition's: a value that stands for two operands has it once, not for each.

// CHECK:      %grad_x = relay.add %[[A:.*]], %[[B:.*]] : tensor<2x3xf32>
// CHECK-NEXT: func.return %y, %grad_x
// CHECK-NOT:  relay.add
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %y = relay.einsum %x, %x {equation = "ij,kj->ik"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
