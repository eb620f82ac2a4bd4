// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_cross_entropy(%0: tensor<3x5xf32>, %1: tensor<3x5xf32>) -> tensor<f32> {
  %2 = relay.nn.cross_entropy %0, %1 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK:      te.func @fused_nn_cross_entropy(%p0: tensor<3x5xf32>, %p1: tensor<3x5xf32>) -> tensor<f32> {
// CHECK:      %class_sum = te.compute "class_sum" [5] sum [3] (%i, %n) : tensor<5xf32> attributes {tag = "nn.cross_entropy"} {
// CHECK:      %total = te.compute "total" [] sum [5] (%c) : tensor<f32> attributes {tag = "nn.cross_entropy"} {
// CHECK:      %cross_entropy = te.compute "cross_entropy" [] () : tensor<f32> attributes {tag = "nn.cross_entropy"} {
// CHECK:      te.return %cross_entropy : tensor<f32>

func.func @nn_cross_entropy_with_logits(%0: tensor<3x5xf32>, %1: tensor<3x5xf32>) -> tensor<f32> {
  %2 = relay.nn.cross_entropy_with_logits %0, %1 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK:      te.func @fused_nn_cross_entropy_with_logits(%p0: tensor<3x5xf32>, %p1: tensor<3x5xf32>) -> tensor<f32> {
// CHECK:      %class_sum = te.compute "class_sum" [5] sum [3] (%i, %n) : tensor<5xf32> attributes {tag = "nn.cross_entropy_with_logits"} {
// CHECK:      %total = te.compute "total" [] sum [5] (%c) : tensor<f32> attributes {tag = "nn.cross_entropy_with_logits"} {
// CHECK:      %cross_entropy = te.compute "cross_entropy" [] () : tensor<f32> attributes {tag = "nn.cross_entropy_with_logits"} {
// CHECK:      te.return %cross_entropy : tensor<f32>

func.func @nn_nll_loss(%0: tensor<5xf32>, %1: tensor<i64>, %2: tensor<5xf32>) -> tensor<f32> {
  %3 = relay.nn.nll_loss %0, %1, %2 {reduction = "none"} : (tensor<5xf32>, tensor<i64>, tensor<5xf32>) -> tensor<f32>
  func.return %3 : tensor<f32>
}
// CHECK:      te.func @fused_nn_nll_loss(%p0: tensor<5xf32>, %p1: tensor<i64>, %p2: tensor<5xf32>) -> tensor<f32> {
// CHECK:      %nll_loss = te.compute "nll_loss" [] () : tensor<f32> attributes {tag = "nn.nll_loss"} {
// CHECK:      te.return %nll_loss : tensor<f32>
