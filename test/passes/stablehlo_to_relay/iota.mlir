// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.constant dense<[[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<3x4xi32>
// CHECK-NEXT: func.return %y : tensor<3x4xi32>
// CHECK-NOT:  stablehlo
func.func @main() -> tensor<3x4xi32> {
  %y = stablehlo.iota dim = 1 : tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}
