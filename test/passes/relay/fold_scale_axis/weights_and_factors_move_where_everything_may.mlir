// RUN: opt-tool %s -p relay-fold-scale-axis{everything=true} --split-input-file | filecheck %s
// RUN: opt-tool %s -p relay-fold-scale-axis --split-input-file | filecheck %s --check-prefix=CONSTANTS

// CHECK-LABEL: @arguments
// CHECK-NEXT:    [[S:%.*]] = relay.reshape %s {newshape = [1, 3, 1, 1]}
// CHECK-NEXT:    [[V:%.*]] = relay.multiply %w, [[S]]
// CHECK-NEXT:    %y = relay.nn.conv2d %x, [[V]]
// CONSTANTS-LABEL: @arguments
// CONSTANTS:         relay.multiply %x, %s
// CONSTANTS-NEXT:    relay.nn.conv2d %p, %w
func.func @arguments(%x: tensor<1x3x6x6xf32>, %s: tensor<3x1x1xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32> {
  %p = relay.multiply %x, %s : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %y = relay.nn.conv2d %p, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// Nobody knows whether it is positive.
// CHECK-LABEL: @unknown_sign
// CHECK:         relay.nn.relu
// CHECK-NEXT:    relay.multiply %r, %s
// CONSTANTS-LABEL: @unknown_sign
func.func @unknown_sign(%x: tensor<1x3x6x6xf32>, %s: tensor<8x1x1xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu %c : tensor<1x8x4x4xf32>
  %y = relay.multiply %r, %s : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// Channels in blocks: the factor has one number for each lane of each block.
// CHECK-LABEL: @blocks
// CHECK:         [[S:%.*]] = relay.reshape %s {newshape = [4, 1, 1, 1, 1, 16]}
// CHECK-NEXT:    [[V:%.*]] = relay.multiply %w, [[S]]
// CHECK-NEXT:    %y = relay.nn.contrib_conv2d_NCHWc %x, [[V]]
// CONSTANTS-LABEL: @blocks
func.func @blocks(%x: tensor<1x2x3x3x16xf32>, %s: tensor<1x4x1x1x16xf32>, %w: tensor<4x2x1x1x16x16xf32>)
    -> tensor<1x4x3x3x16xf32> {
  %c = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, kernel_layout = "OIHW16i16o"}
    : (tensor<1x2x3x3x16xf32>, tensor<4x2x1x1x16x16xf32>) -> tensor<1x4x3x3x16xf32>
  %y = relay.multiply %c, %s : (tensor<1x4x3x3x16xf32>, tensor<1x4x1x1x16xf32>) -> tensor<1x4x3x3x16xf32>
  return %y : tensor<1x4x3x3x16xf32>
}
