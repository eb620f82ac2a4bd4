// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// Where each of many planes has pages of its own, a step in the next one waits, and higher tiles make fewer steps. Five
// planes of 784 bytes share a page: the tile is what it is for few planes, two rows of all four channels.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x64x14x14xf32>, %w: tensor<4x64x1x1xf32>) -> tensor<1x4x14x14xf32> {
    %0 = relay.nn.conv2d %x, %w : (tensor<1x64x14x14xf32>, tensor<4x64x1x1xf32>) -> tensor<1x4x14x14xf32>
    return %0 : tensor<1x4x14x14xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         te.split %k [-1, 1, 4]
// CHECK-NEXT:    te.split %y [-1, 2]
// CHECK-NEXT:    te.split %x [-1, 16]
