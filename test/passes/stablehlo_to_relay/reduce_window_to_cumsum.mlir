// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.cumsum %x {axis = 0} : tensor<5xf32>
// CHECK-NEXT: func.return %y : tensor<5xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 5>, padding = dense<[[4, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
