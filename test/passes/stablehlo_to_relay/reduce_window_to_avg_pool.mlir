// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.nn.avg_pool2d %x {count_include_pad = true, padding = [1, 1, 1, 1], pool_size = [3, 3]} : tensor<1x2x4x4xf32>
// CHECK-NEXT: %1 = relay.constant dense<9.000000e+00> : tensor<f32>
// CHECK-NEXT: %y = relay.multiply %0, %1 : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT: func.return %y : tensor<1x2x4x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 1, 3, 3>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}
