// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reverse %x {axis = 0} : tensor<5xf32>
// CHECK-NEXT: %1 = relay.cumprod %0 {axis = 0} : tensor<5xf32>
// CHECK-NEXT: %y = relay.reverse %1 {axis = 0} : tensor<5xf32>
// CHECK-NEXT: func.return %y : tensor<5xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 5>, padding = dense<[[0, 4]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
