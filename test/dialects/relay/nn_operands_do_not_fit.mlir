// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{relay.nn.conv2d: input has 3 channels, weight expects 4}}
  %0 = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}
// -----
func.func @stride_zero(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{relay.nn.conv2d: stride 0 is out of range}}
  %0 = relay.nn.conv2d %x, %w {strides = [0, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}
// -----
func.func @window(%x: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{relay.nn.max_pool2d: kernel of 9 does not fit into the padded input of 8}}
  %0 = relay.nn.max_pool2d %x {pool_size = [9, 2]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x7xf32>
  func.return
}
// -----
func.func @features(%x: tensor<2x3xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{relay.nn.dense: input has 3 features, weight expects 4}}
  %0 = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  func.return
}
