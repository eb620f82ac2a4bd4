// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.cast %i {dtype = "int64"} : (tensor<3x1xi32>) -> tensor<3x1xi64>
// CHECK-NEXT: %1 = relay.reshape %0 {allowzero = true, newshape = [3]} : (tensor<3x1xi64>) -> tensor<3xi64>
// CHECK-NEXT: %2 = relay.constant dense<7> : tensor<i64>
// CHECK-NEXT: %3 = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %4 = relay.greater_equal %1, %3 : (tensor<3xi64>, tensor<i64>) -> tensor<3xi1>
// CHECK-NEXT: %5 = relay.less_equal %1, %2 : (tensor<3xi64>, tensor<i64>) -> tensor<3xi1>
// CHECK-NEXT: %6 = relay.logical_and %4, %5 : tensor<3xi1>
// CHECK-NEXT: %7 = relay.constant dense<8> : tensor<i64>
// CHECK-NEXT: %8 = relay.where %6, %1, %7 : (tensor<3xi1>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
// CHECK-NEXT: %9 = relay.reshape %8 {allowzero = true, newshape = [1, 3]} : (tensor<3xi64>) -> tensor<1x3xi64>
// CHECK-NEXT: %y = relay.scatter_nd %x, %9, %u : (tensor<8xf32>, tensor<1x3xi64>, tensor<3xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return %y : tensor<8xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
