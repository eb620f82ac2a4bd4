// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @image_affine_grid(%0: tensor<2x2x3xf32>) -> tensor<2x2x2x2xf32> {
  %1 = relay.image.affine_grid %0 {target_shape = [2, 2]} : (tensor<2x2x3xf32>) -> tensor<2x2x2x2xf32>
  func.return %1 : tensor<2x2x2x2xf32>
}
// CHECK:      te.func @fused_image_affine_grid(%p0: tensor<2x2x3xf32>) -> tensor<2x2x2x2xf32> {
// CHECK:      %affine_grid = te.compute "affine_grid" [2, 2, 2, 2] (%n, %d, %i, %j) : tensor<2x2x2x2xf32> attributes {tag = "image.affine_grid"} {
// CHECK:      te.return %affine_grid : tensor<2x2x2x2xf32>

func.func @image_grid_sample(%0: tensor<1x1x1x1xf32>, %1: tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %2 = relay.image.grid_sample %0, %1 {method = "bicubic", padding_mode = "reflection"} : (tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32>
  func.return %2 : tensor<1x1x1x1xf32>
}
// CHECK:      te.func @fused_image_grid_sample(%p0: tensor<1x1x1x1xf32>, %p1: tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32> {
// CHECK:      %grid_sample = te.compute "grid_sample" [1, 1, 1, 1] (%i0, %i1, %i2, %i3) : tensor<1x1x1x1xf32> attributes {tag = "image.grid_sample"} {
// CHECK:      te.return %grid_sample : tensor<1x1x1x1xf32>
