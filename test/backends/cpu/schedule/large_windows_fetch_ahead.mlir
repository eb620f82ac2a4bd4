// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Data that the second-level cache does not hold: the next channels are fetched while those before are summed up.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x4x96x96x16xf32>, %w: tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x48x48x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x96x96x16xf32>, %p1: tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x48x48x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 32, strides = [2, 2], padding = [1, 1]} : (tensor<1x4x96x96x16xf32>, tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x48x48x16xf32>
      relay.return %0 : tensor<1x2x48x48x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x4x96x96x16xf32>, tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x48x48x16xf32>
    return %y : tensor<1x2x48x48x16xf32>
  }
}

// CHECK: te.reorder %n, %koo, %y, %xo, %r, %s, %c, %ci, %xi, %koi, %kv
// CHECK: te.prefetch "p0" at %c offset 1
