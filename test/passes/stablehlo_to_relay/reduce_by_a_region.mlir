// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %c = relay.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = relay.strided_slice %x {begin = [0, 0], end = [2, 1], strides = [1, 1]} : (tensor<2x2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %1 = relay.reshape %0 {allowzero = true, newshape = [2]} : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = relay.strided_slice %x {begin = [0, 1], end = [2, 2], strides = [1, 1]} : (tensor<2x2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %3 = relay.reshape %2 {allowzero = true, newshape = [2]} : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: %4 = relay.multiply %1, %1 : tensor<2xf32>
// CHECK-NEXT: %5 = relay.add %c, %4 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %6 = relay.multiply %3, %3 : tensor<2xf32>
// CHECK-NEXT: %y = relay.add %5, %6 : tensor<2xf32>
// CHECK-NEXT: func.return %y : tensor<2xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %m = stablehlo.multiply %b, %b : tensor<f32>
    %s = stablehlo.add %a, %m : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %y : tensor<2xf32>
}
