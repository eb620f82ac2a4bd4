// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_deformable_conv2d(%0: tensor<2x4x3x3xf32>, %1: tensor<2x2x3x3xf32>, %2: tensor<6x2x1x1xf32>) -> tensor<2x6x3x3xf32> {
  %3 = relay.nn.deformable_conv2d %0, %1, %2 {groups = 2} : (tensor<2x4x3x3xf32>, tensor<2x2x3x3xf32>, tensor<6x2x1x1xf32>) -> tensor<2x6x3x3xf32>
  func.return %3 : tensor<2x6x3x3xf32>
}
// CHECK:      te.func @fused_nn_deformable_conv2d(%p0: tensor<2x4x3x3xf32>, %p1: tensor<2x2x3x3xf32>, %p2: tensor<6x2x1x1xf32>) -> tensor<2x6x3x3xf32> {
// CHECK:      %sampled = te.compute "sampled" [2, 4, 1, 1, 3, 3] (%n, %c, %r, %s, %y, %i) : tensor<2x4x1x1x3x3xf32> attributes {tag = "nn.deformable_conv2d"} {
// CHECK:      %conv = te.compute "conv" [2, 6, 3, 3] sum [2, 1, 1] (%i0, %i1, %i2, %i3, %c, %r, %s) : tensor<2x6x3x3xf32> attributes {tag = "nn.deformable_conv2d"} {
// CHECK:      te.return %conv : tensor<2x6x3x3xf32>
