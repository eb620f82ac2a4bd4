// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_avg_pool2d_grad(%0: tensor<2x4x3x3xf32>, %1: tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32> {
  %2 = relay.nn.avg_pool2d_grad %0, %1 {layout = "NHWC", pool_size = [2, 2]} : (tensor<2x4x3x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32>
  func.return %2 : tensor<2x5x4x3xf32>
}
// CHECK:      te.func @fused_nn_avg_pool2d_grad(%p0: tensor<2x4x3x3xf32>, %p1: tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32> {
// CHECK:      %share = te.compute "share" [2, 4, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x4x3x3xf32> attributes {tag = "nn.avg_pool2d_grad"} {
// CHECK:      %avg_pool2d_grad = te.compute "avg_pool2d_grad" [2, 5, 4, 3] sum [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x5x4x3xf32> attributes {tag = "nn.avg_pool2d_grad"} {
// CHECK:      te.return %avg_pool2d_grad : tensor<2x5x4x3xf32>

func.func @nn_conv2d_backward_weight(%0: tensor<2x4x3x2xf32>, %1: tensor<2x3x7x6xf32>) -> tensor<4x3x3x2xf32> {
  %2 = relay.nn.conv2d_backward_weight %0, %1 {dilation = [2, 4], kernel_size = [3, 2]} : (tensor<2x4x3x2xf32>, tensor<2x3x7x6xf32>) -> tensor<4x3x3x2xf32>
  func.return %2 : tensor<4x3x3x2xf32>
}
// CHECK:      te.func @fused_nn_conv2d_backward_weight(%p0: tensor<2x4x3x2xf32>, %p1: tensor<2x3x7x6xf32>) -> tensor<4x3x3x2xf32> {
// CHECK:      %channels_last = te.compute "channels_last" [2, 3, 2, 4] (%i0, %i1, %i2, %i3) : tensor<2x3x2x4xf32> attributes {tag = "nn.conv2d_backward_weight"} {
// CHECK:      %sums = te.compute "sums" [1, 3, 2, 3, 4] sum [2, 3, 2] (%g, %r, %s, %c, %o, %n, %y, %x) : tensor<1x3x2x3x4xf32> attributes {tag = "nn.conv2d_backward_weight"} {
// CHECK:      %conv2d_backward_weight = te.compute "conv2d_backward_weight" [4, 3, 3, 2] (%i0, %i1, %i2, %i3) : tensor<4x3x3x2xf32> attributes {tag = "nn.conv2d_backward_weight"} {
// CHECK:      te.return %conv2d_backward_weight : tensor<4x3x3x2xf32>

func.func @nn_max_pool2d_grad(%0: tensor<2x4x3x3xf32>, %1: tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32> {
  %2 = relay.nn.max_pool2d_grad %0, %1 {layout = "NHWC", pool_size = [2, 2]} : (tensor<2x4x3x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32>
  func.return %2 : tensor<2x5x4x3xf32>
}
// CHECK:      te.func @fused_nn_max_pool2d_grad(%p0: tensor<2x4x3x3xf32>, %p1: tensor<2x5x4x3xf32>) -> tensor<2x5x4x3xf32> {
// CHECK:      %window_max = te.compute "window_max" [2, 4, 3, 3] max [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x4x3x3xf32> attributes {tag = "nn.max_pool2d_grad"} {
// CHECK:      %window_argmax = te.compute "window_argmax" [2, 4, 3, 3] min [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x4x3x3xi32> attributes {tag = "nn.max_pool2d_grad"} {
// CHECK:      %max_pool2d_grad = te.compute "max_pool2d_grad" [2, 5, 4, 3] sum [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x5x4x3xf32> attributes {tag = "nn.max_pool2d_grad"} {
// CHECK:      te.return %max_pool2d_grad : tensor<2x5x4x3xf32>
