// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_lrn(%0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %1 = relay.nn.lrn %0 {alpha = 1.0} : tensor<1x1x1x1xf32>
  func.return %1 : tensor<1x1x1x1xf32>
}
// CHECK:      te.func @fused_nn_lrn(%p0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
// CHECK:      %lrn_squares = te.compute "lrn_squares" [1, 1, 1, 1] sum [5] (%i0, %i1, %i2, %i3, %k) : tensor<1x1x1x1xf32> attributes {tag = "nn.lrn"} {
// CHECK:      %lrn = te.compute "lrn" [1, 1, 1, 1] (%i0, %i1, %i2, %i3) : tensor<1x1x1x1xf32> attributes {tag = "nn.lrn"} {
// CHECK:      te.return %lrn : tensor<1x1x1x1xf32>
