// RUN: opt-tool %s -p cpu-winograd | filecheck %s
// Of three equal convolutions but for their sizes one is chosen to be done in tiles of two, one directly. However the
// padding is spelled, the question is the same.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    lamina.choices = {"winograd 1x4x14x14x16xf32 by 2x4x3x3x16x32 padded 1x1x1x1" = "2",
                      "winograd 1x4x28x28x16xf32 by 2x4x3x3x16x32 padded 1x1x1x1" = "0"}} {
  func.func @of14(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x14x14x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x14x14x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x14x14x16xf32>
    return %y : tensor<1x4x14x14x16xf32>
  }
  func.func @of28(%x: tensor<1x4x28x28x16xf32>) -> tensor<1x4x28x28x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1, 1, 1]} : (tensor<1x4x28x28x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x28x28x16xf32>
    return %y : tensor<1x4x28x28x16xf32>
  }
  func.func @of56(%x: tensor<1x4x56x56x16xf32>) -> tensor<1x4x56x56x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x56x56x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x56x56x16xf32>
    return %y : tensor<1x4x56x56x16xf32>
  }
}

// CHECK-LABEL: func.func @of14
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 2
// CHECK-LABEL: func.func @of28
// CHECK:         relay.nn.contrib_conv2d_NCHWc
// CHECK-LABEL: func.func @of56
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 4
