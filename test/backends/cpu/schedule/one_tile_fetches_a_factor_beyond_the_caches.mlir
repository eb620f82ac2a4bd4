// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Eight rows are one tile. A factor of 9 MB comes from memory at each call, and its next panel is fetched; one of 256 KB
// may stay in the second-level cache, where fetching it takes longer than reading it. A single row only reads the factor.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @large(%X: tensor<8x768xf32>, %W: tensor<96x768x32xf32>) -> tensor<8x3072xf32> {
    %y = te.compute "large" [8, 3072] sum [768] (%i, %j, %k) : tensor<8x3072xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<8x768xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<96x768x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x3072xf32>
  }
  te.func @small(%X: tensor<8x256xf32>, %W: tensor<8x256x32xf32>) -> tensor<8x256xf32> {
    %y = te.compute "small" [8, 256] sum [256] (%i, %j, %k) : tensor<8x256xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<8x256xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<8x256x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x256xf32>
  }
  te.func @row(%X: tensor<1x768xf32>, %W: tensor<96x768x32xf32>) -> tensor<1x3072xf32> {
    %y = te.compute "row" [1, 3072] sum [768] (%i, %j, %k) : tensor<1x3072xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<1x768xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<96x768x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<1x3072xf32>
  }
}

// CHECK-LABEL: te.schedule @large {
// CHECK:         te.prefetch "W" at %jo offset 1 spread %ko
// CHECK-LABEL: te.schedule @small {
// CHECK-NOT:     te.prefetch "W"
// CHECK-LABEL: te.schedule @row {
// CHECK-NOT:     te.prefetch "W"
