// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<1.000000e-03> : tensor<f32>
// CHECK-NEXT: %1 = relay.add %v, %0 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %2 = relay.rsqrt %1 : tensor<3xf32>
// CHECK-NEXT: %3 = relay.reshape %m {allowzero = true, newshape = [1, 3, 1]} : (tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %4 = relay.subtract %x, %3 : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %5 = relay.multiply %2, %s : tensor<3xf32>
// CHECK-NEXT: %6 = relay.reshape %5 {allowzero = true, newshape = [1, 3, 1]} : (tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %7 = relay.multiply %4, %6 : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %8 = relay.reshape %o {allowzero = true, newshape = [1, 3, 1]} : (tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: %y = relay.add %7, %8 : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: func.return %y : tensor<2x3x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %y = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
