// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @multiplier_shift(%0: tensor<3xf32>, %1: tensor<f32>) -> (tensor<3xi64>, tensor<3xi64>) {
  %2, %3 = relay.multiplier_shift %0, %1 : (tensor<3xf32>, tensor<f32>) -> (tensor<3xi64>, tensor<3xi64>)
  func.return %2, %3 : tensor<3xi64>, tensor<3xi64>
}
// CHECK:      te.func @fused_multiplier_shift(%p0: tensor<3xf32>, %p1: tensor<f32>) -> (tensor<3xi64>, tensor<3xi64>) {
// CHECK:      %multiplier = te.compute "multiplier" [3] (%i0) : tensor<3xi64> attributes {tag = "multiplier_shift"} {
// CHECK:      %shift = te.compute "shift" [3] (%i0) : tensor<3xi64> attributes {tag = "multiplier_shift"} {
// CHECK:      te.return %multiplier, %shift : tensor<3xi64>, tensor<3xi64>
