// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.constant dense<12> : tensor<i32>
// CHECK-NEXT: func.return %y : tensor<i32>
// CHECK-NOT:  stablehlo
func.func @main() -> tensor<i32> {
  %a = stablehlo.constant dense<3> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<i32>
  %y = stablehlo.multiply %a, %b : tensor<i32>
  return %y : tensor<i32>
}
