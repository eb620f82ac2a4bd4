// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir | filecheck %s
// In a kernel of two convolutions each has its loops: what the second one reads are sums, and no data with a border.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x8x20x20xf32>, %w: tensor<8x1x3x3xf32>, %v: tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32> {
    %f = relay.fn (%p0: tensor<1x8x20x20xf32>, %p1: tensor<8x1x3x3xf32>, %p2: tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 {groups = 8} : (tensor<1x8x20x20xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x18x18xf32>
      %1 = relay.nn.conv2d %0, %p2 {groups = 8} : (tensor<1x8x18x18xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32>
      relay.return %1 : tensor<1x8x16x16xf32>
    }
    %y = relay.call %f(%x, %w, %v) : (tensor<1x8x20x20xf32>, tensor<8x1x3x3xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32>
    return %y : tensor<1x8x16x16xf32>
  }
}

// CHECK:      "conv.n+conv.k+conv.y.0"
// CHECK:        reduction "conv.r"
// CHECK:      "conv_1.n+conv_1.k+conv_1.y.0"
// CHECK:        reduction "conv_1.r"
