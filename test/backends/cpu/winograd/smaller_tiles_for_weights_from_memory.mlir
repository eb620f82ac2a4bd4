// RUN: opt-tool %s -p cpu-winograd --split-input-file | filecheck %s
// With tiles of four, 37 MB of weights would come from memory for 49 pixels, which takes longer than the multiplications
// of tiles of two. For 196 pixels the multiplications decide.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @of7(%x: tensor<1x32x7x7x16xf32>) -> tensor<1x32x7x7x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x32x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 512, padding = [1, 1]} : (tensor<1x32x7x7x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x7x7x16xf32>
    return %y : tensor<1x32x7x7x16xf32>
  }
  func.func @of14(%x: tensor<1x32x14x14x16xf32>) -> tensor<1x32x14x14x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x32x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 512, padding = [1, 1]} : (tensor<1x32x14x14x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x14x14x16xf32>
    return %y : tensor<1x32x14x14x16xf32>
  }
}

// CHECK-LABEL: func.func @of7
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 2
// CHECK-LABEL: func.func @of14
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 4

// -----

// 9 MB are still in the cache when the model runs again.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @alone(%x: tensor<1x16x7x7x16xf32>) -> tensor<1x16x7x7x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x16x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 256, padding = [1, 1]} : (tensor<1x16x7x7x16xf32>, tensor<8x16x3x3x16x32xf32>) -> tensor<1x16x7x7x16xf32>
    return %y : tensor<1x16x7x7x16xf32>
  }
}

// CHECK-LABEL: func.func @alone
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 4

// -----

// The other weights of the model have pushed them out.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @beside_others(%x: tensor<1x16x7x7x16xf32>, %a: tensor<1x4096xf32>) -> (tensor<1x16x7x7x16xf32>, tensor<1x4096xf32>) {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x16x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 256, padding = [1, 1]} : (tensor<1x16x7x7x16xf32>, tensor<8x16x3x3x16x32xf32>) -> tensor<1x16x7x7x16xf32>
    %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<4096x4096xf32>
    %b = relay.nn.dense %a, %v : (tensor<1x4096xf32>, tensor<4096x4096xf32>) -> tensor<1x4096xf32>
    return %y, %b : tensor<1x16x7x7x16xf32>, tensor<1x4096xf32>
  }
}

// CHECK-LABEL: func.func @beside_others
// CHECK:         relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 2
