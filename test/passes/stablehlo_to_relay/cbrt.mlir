// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.sign %x : tensor<4xf32>
// CHECK-NEXT: %1 = relay.abs %x : tensor<4xf32>
// CHECK-NEXT: %2 = relay.constant dense<0.333333343> : tensor<f32>
// CHECK-NEXT: %3 = relay.power %1, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %y = relay.multiply %0, %3 : tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.cbrt %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
