// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// Of the stages that read nothing, one that chooses among many constants is stored; a smaller one is made where it is
// read.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x8x32x32xf32>, %w: tensor<4x4x16x8xf32>) -> tensor<1x16x30x30xf32> {
    %0 = relay.nn.contrib_conv2d_winograd_without_weight_transform %x, %w {tile_size = 2}
       : (tensor<1x8x32x32xf32>, tensor<4x4x16x8xf32>) -> tensor<1x16x30x30xf32>
    return %0 : tensor<1x16x30x30xf32>
  }
}

// CHECK:      te.compute "B" [4, 4]
// CHECK:      te.compute "A" [4, 2]
// CHECK:      te.schedule
// CHECK-NEXT:   te.compute_inline "A"
// CHECK-NEXT:   %i, %j = te.loops "B" [2]
