// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @scatter_elements(%0: tensor<5xf32>, %1: tensor<0xi64>, %2: tensor<0xf32>) -> tensor<5xf32> {
  %3 = relay.scatter_elements %0, %1, %2 : (tensor<5xf32>, tensor<0xi64>, tensor<0xf32>) -> tensor<5xf32>
  func.return %3 : tensor<5xf32>
}
// CHECK:      te.func @fused_scatter_elements(%p0: tensor<5xf32>, %p1: tensor<0xi64>, %p2: tensor<0xf32>) -> tensor<5xf32> {
// CHECK:      %scatter_elements = te.extern "scatter_elements" (%p0_buffer = %p0, %p1_buffer = %p1, %p2_buffer = %p2) -> (%out0) : (tensor<5xf32>, tensor<0xi64>, tensor<0xf32>) -> tensor<5xf32> attributes {tag = "scatter_elements"} {
// CHECK:      te.return %scatter_elements : tensor<5xf32>

func.func @scatter_nd(%0: tensor<3x4xf32>, %1: tensor<2x0xi64>, %2: tensor<0xf32>) -> tensor<3x4xf32> {
  %3 = relay.scatter_nd %0, %1, %2 : (tensor<3x4xf32>, tensor<2x0xi64>, tensor<0xf32>) -> tensor<3x4xf32>
  func.return %3 : tensor<3x4xf32>
}
// CHECK:      te.func @fused_scatter_nd(%p0: tensor<3x4xf32>, %p1: tensor<2x0xi64>, %p2: tensor<0xf32>) -> tensor<3x4xf32> {
// CHECK:      %scatter_nd = te.extern "scatter_nd" (%p0_buffer = %p0, %p1_buffer = %p1, %p2_buffer = %p2) -> (%out0) : (tensor<3x4xf32>, tensor<2x0xi64>, tensor<0xf32>) -> tensor<3x4xf32> attributes {tag = "scatter_nd"} {
// CHECK:      te.return %scatter_nd : tensor<3x4xf32>

func.func @sparse_to_dense(%0: tensor<5xi64>, %1: tensor<f32>, %2: tensor<f32>) -> tensor<9xf32> {
  %3 = relay.sparse_to_dense %0, %1, %2 {output_shape = [9]} : (tensor<5xi64>, tensor<f32>, tensor<f32>) -> tensor<9xf32>
  func.return %3 : tensor<9xf32>
}
// CHECK:      te.func @fused_sparse_to_dense(%p0: tensor<5xi64>, %p1: tensor<f32>, %p2: tensor<f32>) -> tensor<9xf32> {
// CHECK:      %sparse_to_dense = te.extern "sparse_to_dense" (%p0_buffer = %p0, %p1_buffer = %p1, %p2_buffer = %p2) -> (%out0) : (tensor<5xi64>, tensor<f32>, tensor<f32>) -> tensor<9xf32> attributes {tag = "sparse_to_dense"} {
// CHECK:      te.return %sparse_to_dense : tensor<9xf32>
