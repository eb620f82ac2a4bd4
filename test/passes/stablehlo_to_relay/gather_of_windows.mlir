// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.cast
// CHECK: relay.strided_slice
// CHECK: relay.reshape
// CHECK: relay.strided_slice
// CHECK: relay.reshape
// CHECK: relay.constant
// CHECK: relay.reshape
// CHECK: relay.concatenate
// CHECK: relay.gather_nd
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x2xi32>) -> tensor<3x2x2xf32> {
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<8x4xf32>, tensor<3x2xi32>) -> tensor<3x2x2xf32>
  return %y : tensor<3x2x2xf32>
}
