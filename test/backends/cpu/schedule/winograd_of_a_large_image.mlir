// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// The tiles of a 256x256 image are 55 MB: a block is one row of 64, which stays in the second-level cache, and 8 tiles at
// a time divide it; 14 would ask for tiles of the next block.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x4x256x256x16xf32>, %u: tensor<6x6x1x4x16x32xf32>, %k: tensor<1x4x3x3x16x32xf32>, %l: tensor<f32>) -> tensor<1x2x256x256x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x256x256x16xf32>, %p1: tensor<6x6x1x4x16x32xf32>, %p2: tensor<1x4x3x3x16x32xf32>, %p3: tensor<f32>) -> tensor<1x2x256x256x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 32, padding = [1, 1], tile_size = 4} : (tensor<1x4x256x256x16xf32>, tensor<6x6x1x4x16x32xf32>, tensor<1x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x2x256x256x16xf32>
      relay.return %0 : tensor<1x2x256x256x16xf32>
    }
    %y = relay.call %f(%x, %u, %k, %l) : (tensor<1x4x256x256x16xf32>, tensor<6x6x1x4x16x32xf32>, tensor<1x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x2x256x256x16xf32>
    return %y : tensor<1x2x256x256x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc {
// CHECK:        %yoo, %yoi = te.split %yo [-1, 1]
// CHECK:        %t_ato, %t_ati = te.split %t_at_{{[0-9]+}} [-1, 8]
// CHECK:        %t_ato_1, %t_ati_1 = te.split %t_at_{{[0-9]+}} [-1, 64]
