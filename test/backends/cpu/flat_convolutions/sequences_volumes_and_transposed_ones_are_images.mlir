// RUN: opt-tool %s -p cpu-flat-convolutions | filecheck %s

// A row of an image.
// CHECK-LABEL: func.func @sequence
// CHECK:       %[[X:.*]] = relay.reshape %x {newshape = [1, 2, 1, 6]}
// CHECK:       relay.nn.conv2d %[[X]], %{{.*}} {{{.*}}padding = [0, 1, 0, 1]{{.*}}strides = [1, 2]
// CHECK:       relay.reshape %{{.*}} {newshape = [1, 2, 3]}
func.func @sequence(%x: tensor<1x2x6xf32>) -> tensor<1x2x3xf32> {
  %w = relay.constant dense<1.5> : tensor<2x2x3xf32>
  %y = relay.nn.conv1d %x, %w {padding = [1, 1], strides = [2]} : (tensor<1x2x6xf32>, tensor<2x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// Three steps in depth, each of two slices: three images with twice the channels.
// CHECK-LABEL: func.func @volume
// CHECK:       %[[A:.*]] = relay.strided_slice %x {axes = [2], begin = [0], end = [3]
// CHECK:       %[[B:.*]] = relay.strided_slice %x {axes = [2], begin = [1], end = [4]
// CHECK:       relay.concatenate %[[A]], %[[B]] {axis = 1
// CHECK:       relay.reshape %{{.*}} {newshape = [3, 6, 5, 6]}
// CHECK:       relay.nn.conv2d %{{.*}} : (tensor<3x6x5x6xf32>, tensor<4x6x3x3xf32>) -> tensor<3x4x3x4xf32>
// CHECK:       relay.transpose %{{.*}} {axes = [0, 2, 1, 3, 4]} : (tensor<1x3x4x3x4xf32>)
func.func @volume(%x: tensor<1x3x4x5x6xf32>) -> tensor<1x4x3x3x4xf32> {
  %w = relay.constant dense<1.5> : tensor<4x3x2x3x3xf32>
  %y = relay.nn.conv3d %x, %w : (tensor<1x3x4x5x6xf32>, tensor<4x3x2x3x3xf32>) -> tensor<1x4x3x3x4xf32>
  return %y : tensor<1x4x3x3x4xf32>
}

// Windows of 4 with stride 2 are two taps wide: 4 times the channels.
// CHECK-LABEL: func.func @transposed
// CHECK:       relay.nn.conv2d %x, %{{.*}} {channels = 32{{.*}}padding = [1, 1, 1, 1]{{.*}} : (tensor<1x4x5x5xf32>, tensor<32x4x2x2xf32>)
// CHECK:       relay.nn.depth_to_space %{{.*}} {block_size = 2}{{.*}} -> tensor<1x8x12x12xf32>
// CHECK:       relay.strided_slice %{{.*}} {axes = [2, 3], begin = [1, 1], end = [11, 11]
func.func @transposed(%x: tensor<1x4x5x5xf32>) -> tensor<1x8x10x10xf32> {
  %w = relay.constant dense<1.5> : tensor<4x8x4x4xf32>
  %y = relay.nn.conv2d_transpose %x, %w {padding = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x4x5x5xf32>, tensor<4x8x4x4xf32>) -> tensor<1x8x10x10xf32>
  return %y : tensor<1x8x10x10xf32>
}

// Windows of 3 with stride 2 have one tap for every other row, and two for those between.
// CHECK-LABEL: func.func @phases
// CHECK:       %[[A:.*]] = relay.nn.conv2d %x, %{{.*}} {channels = 8{{.*}}} : (tensor<1x4x5x5xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x5xf32>
// CHECK:       relay.nn.conv2d %x, %{{.*}} {{{.*}}padding = [0, 0, 0, 1]} : (tensor<1x4x5x5xf32>, tensor<8x4x1x2xf32>) -> tensor<1x8x5x5xf32>
// CHECK:       relay.nn.conv2d %x, %{{.*}} {{{.*}}padding = [0, 0, 1, 0]} : (tensor<1x4x5x5xf32>, tensor<8x4x2x1xf32>) -> tensor<1x8x5x5xf32>
// CHECK:       relay.nn.conv2d %x, %{{.*}} {{{.*}}padding = [0, 0, 1, 1]} : (tensor<1x4x5x5xf32>, tensor<8x4x2x2xf32>) -> tensor<1x8x5x5xf32>
// CHECK:       %[[Y:.*]] = relay.concatenate
// CHECK:       relay.annotation.stop_fusion %[[Y]]
// CHECK:       relay.nn.depth_to_space %{{.*}} {block_size = 2}{{.*}} -> tensor<1x8x10x10xf32>
// CHECK:       relay.strided_slice %{{.*}} {axes = [2, 3], begin = [0, 0], end = [9, 9]
func.func @phases(%x: tensor<1x4x5x5xf32>) -> tensor<1x8x9x9xf32> {
  %w = relay.constant dense<1.5> : tensor<4x8x3x3xf32>
  %y = relay.nn.conv2d_transpose %x, %w {padding = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x4x5x5xf32>, tensor<4x8x3x3xf32>) -> tensor<1x8x9x9xf32>
  return %y : tensor<1x8x9x9xf32>
}
