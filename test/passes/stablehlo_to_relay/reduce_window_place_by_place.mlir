// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<"0x0000807F"> : tensor<f32>
// CHECK-NEXT: %1 = relay.strided_slice %x {begin = [0, 0], end = [2, 4], strides = [1, 1]} : (tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %2 = relay.strided_slice %x {begin = [1, 0], end = [3, 4], strides = [1, 1]} : (tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %y = relay.minimum %1, %2 : tensor<2x4xf32>
// CHECK-NEXT: func.return %y : tensor<2x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
