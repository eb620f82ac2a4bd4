// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Fourteen pixels are two tiles of seven, not one of eight and a short one.

// CHECK-LABEL: te.schedule
// CHECK:         %xo, %xi = te.split %x [-1, 7]
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x14x14x16xf32>, %w: tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x14x14x16xf32> {
    %f = relay.fn (%p0: tensor<1x2x14x14x16xf32>, %p1: tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x14x14x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_depthwise_conv2d_NCHWc %p0, %p1 {channels = 32, padding = [1, 1], groups = 32} : (tensor<1x2x14x14x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x14x14x16xf32>
      relay.return %0 : tensor<1x2x14x14x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x2x14x14x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x14x14x16xf32>
    return %y : tensor<1x2x14x14x16xf32>
  }
}
