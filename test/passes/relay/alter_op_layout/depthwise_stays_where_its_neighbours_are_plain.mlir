// RUN: opt-tool %s -p 'relay-alter-op-layout{block=8}' | filecheck %s
// Two transposes cost more than a few taps; in front of a convolution on blocks there is one anyway.

// CHECK-LABEL: func.func @alone
// CHECK:         relay.nn.conv2d %x, %w
func.func @alone(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x1x3x3xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1], groups = 16} : (tensor<1x16x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
  %y = relay.nn.relu %c : tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}

// CHECK-LABEL: func.func @strided
// CHECK:         relay.nn.contrib_depthwise_conv2d_NCHWc
func.func @strided(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x3x3xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x1x3x3xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1], strides = [2, 2], groups = 16} : (tensor<1x16x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x3x3xf32>
  return %c : tensor<1x16x3x3xf32>
}

// CHECK-LABEL: func.func @followed
// CHECK:         relay.nn.contrib_depthwise_conv2d_NCHWc
// CHECK:         relay.nn.contrib_conv2d_NCHWc
func.func @followed(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x1x3x3xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1], groups = 16} : (tensor<1x16x6x6xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x6x6xf32>
  %r = relay.nn.relu %c : tensor<1x16x6x6xf32>
  %y = relay.nn.conv2d %r, %v : (tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
