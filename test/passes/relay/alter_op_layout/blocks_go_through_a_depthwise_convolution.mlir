// RUN: opt-tool %s -p 'relay-alter-op-layout' | filecheck %s
// A first layer of few channels would be as well off in rows, but its depthwise follower stands before a convolution on
// blocks: the larger result would be transposed in between.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: func.func @before_blocks
  // CHECK:         relay.nn.contrib_conv2d_NCHWc %x
  // CHECK-NOT:     relay.layout_transform
  // CHECK:         relay.nn.contrib_depthwise_conv2d_NCHWc
  // CHECK-NOT:     relay.layout_transform %
  // CHECK:         relay.nn.contrib_conv2d_NCHWc
  func.func @before_blocks(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<32x3x3x3xf32>
    %d = relay.constant #relay.param<"d", "0123456789abcdef"> : tensor<32x1x3x3xf32>
    %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<64x32x1x1xf32>
    %c = relay.nn.conv2d %x, %w {padding = [1, 1], strides = [2, 2]} : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
    %r = relay.nn.relu %c : tensor<1x32x112x112xf32>
    %e = relay.nn.conv2d %r, %d {padding = [1, 1], groups = 32} : (tensor<1x32x112x112xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x112x112xf32>
    %s = relay.nn.relu %e : tensor<1x32x112x112xf32>
    %y = relay.nn.conv2d %s, %v : (tensor<1x32x112x112xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x112x112xf32>
    return %y : tensor<1x64x112x112xf32>
  }

  // CHECK-LABEL: func.func @before_nothing
  // CHECK:         relay.nn.conv2d %x
  // CHECK:         relay.nn.conv2d
  func.func @before_nothing(%x: tensor<1x3x224x224xf32>) -> tensor<1x32x112x112xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<32x3x3x3xf32>
    %d = relay.constant #relay.param<"d", "0123456789abcdef"> : tensor<32x1x3x3xf32>
    %c = relay.nn.conv2d %x, %w {padding = [1, 1], strides = [2, 2]} : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
    %r = relay.nn.relu %c : tensor<1x32x112x112xf32>
    %y = relay.nn.conv2d %r, %d {padding = [1, 1], groups = 32} : (tensor<1x32x112x112xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x112x112xf32>
    return %y : tensor<1x32x112x112xf32>
  }
}
