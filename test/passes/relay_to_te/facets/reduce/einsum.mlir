// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @einsum(%0: tensor<3xf32>, %1: tensor<5xf32>) -> tensor<3x5xf32> {
  %2 = relay.einsum %0, %1 {equation = "i,j->ij"} : (tensor<3xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
// CHECK:      te.func @fused_einsum(%p0: tensor<3xf32>, %p1: tensor<5xf32>) -> tensor<3x5xf32> {
// CHECK:      %reshape = te.compute "reshape" [3, 1] (%i0, %i1) : tensor<3x1xf32> attributes {tag = "einsum"} {
// CHECK:      %reshape_1 = te.compute "reshape_1" [1, 5] (%i0, %i1) : tensor<1x5xf32> attributes {tag = "einsum"} {
// CHECK:      %multiply = te.compute "multiply" [3, 5] (%i0, %i1) : tensor<3x5xf32> attributes {tag = "einsum"} {
// CHECK:      te.return %multiply : tensor<3x5xf32>
