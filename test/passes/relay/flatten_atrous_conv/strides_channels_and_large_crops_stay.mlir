// RUN: opt-tool %s -p relay-flatten-atrous-conv | filecheck %s
// A convolution with a stride; blocks of channels; a crop that is larger than the padding; other blocks behind.

// CHECK-COUNT-4: relay.nn.space_to_batch_nd
// CHECK-COUNT-1: relay.nn.batch_to_space_nd
func.func @main(%x: tensor<1x4x4x4xf32>, %w: tensor<1x1x4x4xf32>, %v: tensor<4x2x1x1xf32>)
    -> (tensor<1x2x2x4xf32>, tensor<1x8x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x8x4xf32>) {
  %a = relay.nn.space_to_batch_nd %x {block_shape = [2, 2], paddings = [0, 0, 0, 0]}
    : (tensor<1x4x4x4xf32>) -> tensor<4x2x2x4xf32>
  %b = relay.nn.conv2d %a, %w {data_layout = "NHWC", kernel_layout = "HWIO", strides = [2, 2]}
    : (tensor<4x2x2x4xf32>, tensor<1x1x4x4xf32>) -> tensor<4x1x1x4xf32>
  %c = relay.nn.batch_to_space_nd %b {block_shape = [2, 2], crops = [0, 0, 0, 0]}
    : (tensor<4x1x1x4xf32>) -> tensor<1x2x2x4xf32>
  %d = relay.nn.space_to_batch_nd %x {block_shape = [2], paddings = [0, 0]}
    : (tensor<1x4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %e = relay.nn.conv2d %d, %v : (tensor<2x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<2x4x4x4xf32>
  %f = relay.nn.batch_to_space_nd %e {block_shape = [2], crops = [0, 0]}
    : (tensor<2x4x4x4xf32>) -> tensor<1x8x4x4xf32>
  %g = relay.nn.space_to_batch_nd %x {block_shape = [2, 2], paddings = [0, 0, 0, 0]}
    : (tensor<1x4x4x4xf32>) -> tensor<4x2x2x4xf32>
  %h = relay.nn.conv2d %g, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<4x2x2x4xf32>, tensor<1x1x4x4xf32>) -> tensor<4x2x2x4xf32>
  %i = relay.nn.batch_to_space_nd %h {block_shape = [2, 2], crops = [1, 0, 0, 0]}
    : (tensor<4x2x2x4xf32>) -> tensor<1x3x4x4xf32>
  %j = relay.nn.space_to_batch_nd %x {block_shape = [2, 2], paddings = [0, 0, 0, 0]}
    : (tensor<1x4x4x4xf32>) -> tensor<4x2x2x4xf32>
  %k = relay.nn.conv2d %j, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<4x2x2x4xf32>, tensor<1x1x4x4xf32>) -> tensor<4x2x2x4xf32>
  %l = relay.nn.batch_to_space_nd %k {block_shape = [1, 4], crops = [0, 0, 0, 0]}
    : (tensor<4x2x2x4xf32>) -> tensor<1x2x8x4xf32>
  return %c, %f, %i, %l : tensor<1x2x2x4xf32>, tensor<1x8x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x2x8x4xf32>
}
