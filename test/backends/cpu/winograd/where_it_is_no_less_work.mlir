// RUN: opt-tool %s -p cpu-winograd | filecheck %s
// Strides, other kernels, groups, few pixels, one row, 16-bit floats and weights that are no constants keep the direct sum.

// CHECK-NOT:     winograd
// CHECK-COUNT-7: relay.nn.contrib_conv2d_NCHWc %
// CHECK-NOT:     winograd
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @stride(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x7x7x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1], strides = [2, 2]} : (tensor<1x4x14x14x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x7x7x16xf32>
    return %y : tensor<1x4x7x7x16xf32>
  }
  func.func @kernel(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x14x14x16xf32> {
    %w = relay.constant #relay.param<"v", "1123456789abcdef"> : tensor<2x4x1x1x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64} : (tensor<1x4x14x14x16xf32>, tensor<2x4x1x1x16x32xf32>) -> tensor<1x4x14x14x16xf32>
    return %y : tensor<1x4x14x14x16xf32>
  }
  func.func @groups(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x14x14x16xf32> {
    %w = relay.constant #relay.param<"u", "2123456789abcdef"> : tensor<2x2x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1], groups = 2} : (tensor<1x4x14x14x16xf32>, tensor<2x2x3x3x16x32xf32>) -> tensor<1x4x14x14x16xf32>
    return %y : tensor<1x4x14x14x16xf32>
  }
  func.func @few_pixels(%x: tensor<1x4x5x5x16xf32>) -> tensor<1x4x5x5x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x5x5x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x5x5x16xf32>
    return %y : tensor<1x4x5x5x16xf32>
  }
  func.func @one_row(%x: tensor<1x32x1x512x16xf32>) -> tensor<1x32x1x512x16xf32> {
    %w = relay.constant #relay.param<"r", "4123456789abcdef"> : tensor<16x32x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 512, padding = [1, 1]} : (tensor<1x32x1x512x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x1x512x16xf32>
    return %y : tensor<1x32x1x512x16xf32>
  }
  func.func @half(%x: tensor<1x4x14x14x16xf16>) -> tensor<1x4x14x14x16xf16> {
    %w = relay.constant #relay.param<"h", "3123456789abcdef"> : tensor<2x4x3x3x16x32xf16>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x14x14x16xf16>, tensor<2x4x3x3x16x32xf16>) -> tensor<1x4x14x14x16xf16>
    return %y : tensor<1x4x14x14x16xf16>
  }
  func.func @variable(%x: tensor<1x4x14x14x16xf32>, %w: tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x14x14x16xf32> {
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x14x14x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x14x14x16xf32>
    return %y : tensor<1x4x14x14x16xf32>
  }
}
