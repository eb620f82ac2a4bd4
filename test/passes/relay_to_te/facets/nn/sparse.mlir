// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_sparse_dense(%0: tensor<2x4xf32>, %1: tensor<0xf32>, %2: tensor<0xi32>, %3: tensor<3xi32>) -> tensor<2x2xf32> {
  %4 = relay.nn.sparse_dense %0, %1, %2, %3 : (tensor<2x4xf32>, tensor<0xf32>, tensor<0xi32>, tensor<3xi32>) -> tensor<2x2xf32>
  func.return %4 : tensor<2x2xf32>
}
// CHECK:      te.func @fused_nn_sparse_dense(%p0: tensor<2x4xf32>, %p1: tensor<0xf32>, %p2: tensor<0xi32>, %p3: tensor<3xi32>) -> tensor<2x2xf32> {
// CHECK:      %dense_transposed = te.compute "dense_transposed" [4, 2] (%i, %j) : tensor<4x2xf32> attributes {tag = "nn.sparse_dense"} {
// CHECK:      %sparse_rows = te.extern "sparse_rows" (%dense_transposed_buffer = %dense_transposed, %p1_buffer = %p1, %p2_buffer = %p2, %p3_buffer = %p3) -> (%out0) : (tensor<4x2xf32>, tensor<0xf32>, tensor<0xi32>, tensor<3xi32>) -> tensor<2x2xf32> attributes {tag = "nn.sparse_dense"} {
// CHECK:      %sparse_dense = te.compute "sparse_dense" [2, 2] (%i, %j) : tensor<2x2xf32> attributes {tag = "nn.sparse_dense"} {
// CHECK:      te.return %sparse_dense : tensor<2x2xf32>
