// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Sums of four vectors do not wait for one another: a tile is a row, and no second one stands in it.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x8x64x64xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<1x8x64x64xf32> {
    %f = relay.fn (%p0: tensor<1x8x64x64xf32>, %p1: tensor<8x1x3x3xf32>) -> tensor<1x8x64x64xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 {padding = [1, 1], groups = 8} : (tensor<1x8x64x64xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x64x64xf32>
      relay.return %0 : tensor<1x8x64x64xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x8x64x64xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x64x64xf32>
    return %y : tensor<1x8x64x64xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         %n, %k, %y, %x, %c, %r, %s = te.loops "conv" [7]
// CHECK-NEXT:    %xo, %xa, %xb = te.split %x [-1, 4, 16]
// CHECK-NEXT:    te.reorder %n, %k, %y, %xo, %c, %r, %s, %xa, %xb
