// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// With three channels, three vectors of pixels are as many as are needed. A row of eight vectors has no tiles of three
// without a short one at its end: it has four tiles of two.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  func.func @main(%x: tensor<1x8x9x64xf32>, %w: tensor<3x8x3x3xf32>) -> tensor<1x3x9x64xf32> {
    %0 = relay.nn.conv2d %x, %w {padding = [1, 1, 1, 1]}
       : (tensor<1x8x9x64xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x9x64xf32>
    return %0 : tensor<1x3x9x64xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         te.split %k [-1, 3]
// CHECK:         te.split %x [-1, 2, 8]
// CHECK-NOT:     te.partition
