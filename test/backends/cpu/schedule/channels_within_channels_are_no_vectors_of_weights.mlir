// RUN: opt-tool %s -p cpu-schedule,te-to-tir | filecheck %s
// Four input channels lie within each output channel: a row of the weights is no vector of output channels.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @conv(%X: tensor<2x1x7x5x4xui8>, %W: tensor<1x1x3x3x32x4xi8>) -> tensor<2x2x3x2x16xi32> {
    %y = te.compute "conv" [2, 2, 3, 2, 16] sum [1, 3, 3, 4] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci)
        : tensor<2x2x3x2x16xi32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
      %0 = te.read %X[%n, %c, %y * 2 + %r, %x * 2 + %s, %ci] : tensor<2x1x7x5x4xui8>
      %1 = te.read %W[0, %c, %r, %s, %ko * 16 + %kv, %ci] : tensor<1x1x3x3x32x4xi8>
      %2 = arith.extui %0 : i8 to i32
      %3 = arith.extsi %1 : i8 to i32
      %4 = arith.muli %2, %3 : i32
      te.yield %4 : i32
    }
    te.return %y : tensor<2x2x3x2x16xi32>
  }
}

// CHECK-LABEL: tir.func @conv
// CHECK-NOT:     "W.register"
// CHECK:         tir.for %kv = 0 to 16 vectorized "conv.kv"
