// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_contrib_attention(%0: tensor<2x5x12xf32>, %1: tensor<2x5x12xf32>, %2: tensor<2x5x12xf32>, %3: tensor<f32>, %4: tensor<2x1x1x5xf32>) -> tensor<2x5x12xf32> {
  %5 = relay.nn.contrib_attention %0, %1, %2, %3, %4 {heads = 3} : (tensor<2x5x12xf32>, tensor<2x5x12xf32>, tensor<2x5x12xf32>, tensor<f32>, tensor<2x1x1x5xf32>) -> tensor<2x5x12xf32>
  func.return %5 : tensor<2x5x12xf32>
}
// CHECK:      te.func @fused_nn_contrib_attention(%p0: tensor<2x5x12xf32>, %p1: tensor<2x5x12xf32>, %p2: tensor<2x5x12xf32>, %p3: tensor<f32>, %p4: tensor<2x1x1x5xf32>) -> tensor<2x5x12xf32> {
// CHECK:      %attention_keys = te.compute "attention_keys" [2, 3, 4, 5] (%b, %h, %n, %j) : tensor<2x3x4x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_scores = te.compute "attention_scores" [2, 3, 5, 5] sum [4] (%b, %h, %i, %j, %d) : tensor<2x3x5x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_logits = te.compute "attention_logits" [2, 3, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x3x5x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_max = te.compute "attention_max" [2, 3, 5] max [5] (%b, %h, %i, %j) : tensor<2x3x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_exp = te.compute "attention_exp" [2, 3, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x3x5x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_sum = te.compute "attention_sum" [2, 3, 5] sum [5] (%b, %h, %i, %j) : tensor<2x3x5xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention_mixed = te.compute "attention_mixed" [2, 3, 5, 4] sum [5] (%b, %h, %i, %c, %j) : tensor<2x3x5x4xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      %attention = te.compute "attention" [2, 5, 12] (%b, %i, %c) : tensor<2x5x12xf32> attributes {tag = "nn.contrib_attention"} {
// CHECK:      te.return %attention : tensor<2x5x12xf32>
