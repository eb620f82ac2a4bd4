// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.cast %i {dtype = "int64"} : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %1 = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %2 = relay.maximum %0, %1 : tensor<i64>
// CHECK-NEXT: %3 = relay.constant dense<6> : tensor<i64>
// CHECK-NEXT: %4 = relay.minimum %2, %3 : tensor<i64>
// CHECK-NEXT: %5 = relay.reshape %4 {allowzero = true, newshape = [1]} : (tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %6 = relay.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT: %7 = relay.add %5, %6 : (tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %y = relay.take %x, %7 {axis = 0} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return %y : tensor<2x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x4xf32>, %i: tensor<i32>) -> tensor<2x4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %y = stablehlo.dynamic_slice %x, %i, %c, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
