// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// Three of seven channels and a last tile of one are a good tile. In a group that is one of several each tile has as
// many channels as the others.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x14x7x7xf32>, %w: tensor<7x14x1x1xf32>, %v: tensor<14x7x1x1xf32>)
      -> (tensor<1x7x7x7xf32>, tensor<1x14x7x7xf32>) {
    %0 = relay.nn.conv2d %x, %w : (tensor<1x14x7x7xf32>, tensor<7x14x1x1xf32>) -> tensor<1x7x7x7xf32>
    %1 = relay.nn.conv2d %x, %v {groups = 2} : (tensor<1x14x7x7xf32>, tensor<14x7x1x1xf32>) -> tensor<1x14x7x7xf32>
    return %0, %1 : tensor<1x7x7x7xf32>, tensor<1x14x7x7xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         te.split %k [-1, 3, 3]
// CHECK-LABEL: te.schedule @fused_nn_conv2d_1 {
// CHECK:         te.split %k [-1, 1, 7]
