// RUN: opt-tool %s -p stablehlo-to-relay,relay-dead-code-elimination | filecheck %s
// The sum goes along another axis than the maximum.

// CHECK:     relay.divide
// CHECK-NOT: relay.nn.softmax
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  %m1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
  %d = stablehlo.subtract %x, %m1 : tensor<3x3xf32>
  %e = stablehlo.exponential %d : tensor<3x3xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
  %s1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<3xf32>) -> tensor<3x3xf32>
  %y = stablehlo.divide %e, %s1 : tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}
