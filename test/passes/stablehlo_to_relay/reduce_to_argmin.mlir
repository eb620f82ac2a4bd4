// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %v = relay.min %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %y = relay.argmin %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xi32>
// CHECK-NEXT: func.return %y : tensor<2xi32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xi32> {
  %low = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %at = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %v, %y = stablehlo.reduce(%x init: %low), (%at init: %zero) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.or %0, %1 : tensor<i1>
    %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.and %3, %4 : tensor<i1>
    %6 = stablehlo.or %2, %5 : tensor<i1>
    %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
    %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
  }
  return %y : tensor<2xi32>
}
