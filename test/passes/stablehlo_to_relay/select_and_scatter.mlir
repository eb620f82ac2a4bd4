// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.strided_slice
// CHECK: relay.strided_slice
// CHECK: relay.constant
// CHECK: relay.greater
// CHECK: relay.where
// CHECK: relay.constant
// CHECK: relay.nn.dilate
// CHECK: relay.nn.pad
// CHECK: relay.add
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>, %d: tensor<2xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.select_and_scatter"(%x, %d, %c) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
