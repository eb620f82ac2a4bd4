// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.cast %i {dtype = "int64"} : (tensor<8x1xi32>) -> tensor<8x1xi64>
// CHECK-NEXT: %1 = relay.reshape %0 {allowzero = true, newshape = [8]} : (tensor<8x1xi64>) -> tensor<8xi64>
// CHECK-NEXT: %2 = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %3 = relay.maximum %1, %2 : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
// CHECK-NEXT: %4 = relay.constant dense<3> : tensor<i64>
// CHECK-NEXT: %5 = relay.minimum %3, %4 : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
// CHECK-NEXT: %6 = relay.reshape %5 {allowzero = true, newshape = [1, 8]} : (tensor<8xi64>) -> tensor<1x8xi64>
// CHECK-NEXT: %7 = relay.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
// CHECK-NEXT: %8 = relay.reshape %7 {allowzero = true, newshape = [1, 8]} : (tensor<8xi64>) -> tensor<1x8xi64>
// CHECK-NEXT: %9 = relay.concatenate %6, %8 : (tensor<1x8xi64>, tensor<1x8xi64>) -> tensor<2x8xi64>
// CHECK-NEXT: %10 = relay.transpose %x {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %y = relay.gather_nd %10, %9 : (tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<8xf32>
// CHECK-NEXT: func.return %y : tensor<8xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x4xf32>, %i: tensor<8x1xi32>) -> tensor<8xf32> {
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x4xf32>, tensor<8x1xi32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
