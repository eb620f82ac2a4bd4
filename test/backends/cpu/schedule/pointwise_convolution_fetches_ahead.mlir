// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// 3 MB of data that no second-level cache holds, 64 KB of weights: each tile of the data meets all weights, and while it
// sums over 16 channels the next 16, which lie 200 KB further, are fetched.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @conv(%X: tensor<1x16x56x56x16xf32>, %W: tensor<2x16x1x1x16x32xf32>) -> tensor<1x4x56x56x16xf32> {
    %acc = te.compute "conv" [1, 4, 56, 56, 16] sum [16, 1, 1, 16] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci)
        : tensor<1x4x56x56x16xf32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
      %d = te.read %X[%n, %c, %y + %r, %x + %s, %ci] : tensor<1x16x56x56x16xf32>
      %w = te.read %W[(%ko * 16 + %kv) floordiv 32, %c, %r, %s, %ci, (%ko * 16 + %kv) mod 32] : tensor<2x16x1x1x16x32xf32>
      %p = arith.mulf %d, %w : f32
      te.yield %p : f32
    }
    te.return %acc : tensor<1x4x56x56x16xf32>
  }
}

// CHECK-LABEL: te.schedule @conv {
// CHECK:        te.reorder %n, %y, %xo, %koo, %c, %r, %s, %ci, %xi, %koi, %kv
// CHECK:        te.prefetch "X" at %c offset 1
// CHECK:        %n_y = te.fuse %n, %y
// CHECK-NEXT:   te.parallel %n_y
