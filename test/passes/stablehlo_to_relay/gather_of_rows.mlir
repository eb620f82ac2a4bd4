// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.cast %i {dtype = "int64"} : (tensor<3x1xi32>) -> tensor<3x1xi64>
// CHECK-NEXT: %1 = relay.reshape %0 {allowzero = true, newshape = [3]} : (tensor<3x1xi64>) -> tensor<3xi64>
// CHECK-NEXT: %y = relay.take %x, %1 {axis = 0} : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
// CHECK-NEXT: func.return %y : tensor<3x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
