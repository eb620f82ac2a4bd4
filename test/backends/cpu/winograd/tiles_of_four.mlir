// RUN: opt-tool %s -p cpu-winograd | filecheck %s
// RUN: opt-tool %s -p cpu-winograd{tile-size=2} | filecheck %s --check-prefix TWO
// RUN: opt-tool %s -p cpu-winograd{tile-size=0} | filecheck %s --check-prefix NONE

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @conv(%x: tensor<1x4x14x14x16xf32>) -> tensor<1x4x14x14x16xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<1x4x14x14x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x14x14x16xf32>
    return %y : tensor<1x4x14x14x16xf32>
  }
}

// CHECK:      %0 = relay.constant #relay.param<"w/contrib_conv2d_winograd_NCHWc_weight_transform", {{.*}}> : tensor<6x6x2x4x16x32xf32>
// CHECK-NEXT: %1 = relay.constant #relay.param<"w/contrib_conv2d_winograd_NCHWc_weight_transform/contrib_conv2d_winograd_NCHWc_limit", {{.*}}> : tensor<f32>
// CHECK-NEXT: %y = relay.nn.contrib_conv2d_winograd_NCHWc %x, %0, %w, %1 {channels = 64, padding = [1, 1], tile_size = 4}
// TWO:        : tensor<4x4x2x4x16x32xf32>
// TWO:        relay.nn.contrib_conv2d_winograd_NCHWc %x, %0, %w, %1 {channels = 64, padding = [1, 1], tile_size = 2}
// NONE:       relay.nn.contrib_conv2d_NCHWc
