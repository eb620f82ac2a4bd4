// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Rows 4096 bytes apart have their elements in the same lines of the first-level cache: it holds 8 of them.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @apart(%X: tensor<28x960xf32>, %W: tensor<2x960x32xf32>) -> tensor<28x64xf32> {
    %y = te.compute "dense" [28, 64] sum [960] (%i, %j, %k) : tensor<28x64xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<28x960xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<2x960x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<28x64xf32>
  }
  te.func @sharing(%X: tensor<28x1024xf32>, %W: tensor<2x1024x32xf32>) -> tensor<28x64xf32> {
    %y = te.compute "dense" [28, 64] sum [1024] (%i, %j, %k) : tensor<28x64xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<28x1024xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<2x1024x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<28x64xf32>
  }
}

// CHECK-LABEL: te.schedule @apart {
// CHECK:         te.split %i [-1, 14]
// CHECK-LABEL: te.schedule @sharing {
// CHECK:         te.split %i [-1, 7]
