// RUN: opt-tool %s -p stablehlo-to-relay,relay-dead-code-elimination | filecheck %s
// As jax.nn.softmax is exported.

// CHECK:      func.func @main(%x: tensor<2x3xf32>)
// CHECK-NEXT: %y = relay.nn.softmax %x {axis = 1} : tensor<2x3xf32>
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %m1 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
  %m2 = stablehlo.broadcast_in_dim %m1, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %d = stablehlo.subtract %x, %m2 : tensor<2x3xf32>
  %e = stablehlo.exponential %d : tensor<2x3xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %s1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
  %s2 = stablehlo.broadcast_in_dim %s1, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %y = stablehlo.divide %e, %s2 : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
