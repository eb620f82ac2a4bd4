// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: func.return %y : tensor<2xf32>
// CHECK-NOT:  stablehlo
func.func @main() -> tensor<2xf32> {
  %y = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %y : tensor<2xf32>
}
