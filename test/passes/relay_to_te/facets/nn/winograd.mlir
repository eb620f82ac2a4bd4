// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_contrib_conv2d_winograd_weight_transform(%0: tensor<2x3x2x2xf32>) -> tensor<4x4x2x3xf32> {
  %1 = relay.nn.contrib_conv2d_winograd_weight_transform %0 {tile_size = 3} : (tensor<2x3x2x2xf32>) -> tensor<4x4x2x3xf32>
  func.return %1 : tensor<4x4x2x3xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_winograd_weight_transform(%p0: tensor<2x3x2x2xf32>) -> tensor<4x4x2x3xf32> {
// CHECK:      %G = te.compute "G" [4, 2] (%i, %j) : tensor<4x2xf32> attributes {tag = "nn.contrib_conv2d_winograd_weight_transform"} {
// CHECK:      %kernel_rows = te.compute "kernel_rows" [4, 2, 2, 3] sum [2] (%e, %s, %o, %i, %r) : tensor<4x2x2x3xf32> attributes {tag = "nn.contrib_conv2d_winograd_weight_transform"} {
// CHECK:      %winograd_weight = te.compute "winograd_weight" [4, 4, 2, 3] sum [2] (%e, %n, %o, %i, %s) : tensor<4x4x2x3xf32> attributes {tag = "nn.contrib_conv2d_winograd_weight_transform"} {
// CHECK:      te.return %winograd_weight : tensor<4x4x2x3xf32>

func.func @nn_contrib_conv2d_winograd_without_weight_transform(%0: tensor<2x2x6x5xf32>, %1: tensor<4x4x3x2xf32>) -> tensor<2x3x6x4xf32> {
  %2 = relay.nn.contrib_conv2d_winograd_without_weight_transform %0, %1 {kernel_size = [3, 3], padding = [0, 1, 2, 0], tile_size = 2} : (tensor<2x2x6x5xf32>, tensor<4x4x3x2xf32>) -> tensor<2x3x6x4xf32>
  func.return %2 : tensor<2x3x6x4xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_winograd_without_weight_transform(%p0: tensor<2x2x6x5xf32>, %p1: tensor<4x4x3x2xf32>) -> tensor<2x3x6x4xf32> {
// CHECK:      %B = te.compute "B" [4, 4] (%i, %j) : tensor<4x4xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %A = te.compute "A" [4, 2] (%i, %j) : tensor<4x2xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %pad = te.compute "pad" [2, 2, 8, 6] (%i0, %i1, %i2, %i3) : tensor<2x2x8x6xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %data_rows = te.compute "data_rows" [4, 4, 2, 12] sum [4] (%e, %s, %c, %p, %r) : tensor<4x4x2x12xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %winograd_data = te.compute "winograd_data" [4, 4, 2, 12] sum [4] (%e, %n, %c, %p, %s) : tensor<4x4x2x12xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %winograd_product = te.compute "winograd_product" [4, 4, 3, 12] sum [2] (%e, %n, %o, %p, %c) : tensor<4x4x3x12xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %result_rows = te.compute "result_rows" [2, 4, 3, 12] sum [4] (%i, %n, %o, %p, %e) : tensor<2x4x3x12xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %winograd_result = te.compute "winograd_result" [2, 2, 3, 12] sum [4] (%i, %j, %o, %p, %n) : tensor<2x2x3x12xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      %conv2d_winograd = te.compute "conv2d_winograd" [2, 3, 6, 4] (%i0, %i1, %i2, %i3) : tensor<2x3x6x4xf32> attributes {tag = "nn.contrib_conv2d_winograd_without_weight_transform"} {
// CHECK:      te.return %conv2d_winograd : tensor<2x3x6x4xf32>
