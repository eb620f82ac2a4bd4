// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK-LABEL: @one
// CHECK-NEXT:  %b = relay.transpose %x {axes = [2, 0, 1]} : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT:  func.return %b
func.func @one(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32> {
  %a = relay.transpose %x {axes = [1, 2, 0]} : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
  %b = relay.transpose %a {axes = [1, 2, 0]} : (tensor<3x5x2xf32>) -> tensor<5x2x3xf32>
  return %b : tensor<5x2x3xf32>
}

// CHECK-LABEL: @none
// CHECK-NEXT:  func.return %x
func.func @none(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = relay.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = relay.transpose %a {axes = [-1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %b : tensor<2x3xf32>
}
