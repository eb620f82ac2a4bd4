// RUN: not opt-tool %s -p stablehlo-to-relay 2>&1 | filecheck %s

// CHECK: stablehlo.reduce (1x, a reducer of no known form over 100 elements) is not supported
func.func @main(%x: tensor<100xf32>, %c: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.reduce(%x init: %c) applies stablehlo.power across dimensions = [0] : (tensor<100xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
