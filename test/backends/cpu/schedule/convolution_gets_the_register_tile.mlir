// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// 14 pixels by 2 vectors of accumulators, the weights of a step loaded first, the bias added at the tile.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @conv(%X: tensor<1x2x16x16x16xf32>, %W: tensor<2x2x3x3x16x16xf32>, %B: tensor<32xf32>)
      -> tensor<1x2x14x14x16xf32> {
    %acc = te.compute "conv" [1, 2, 14, 14, 16] sum [2, 3, 3, 16] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci)
        : tensor<1x2x14x14x16xf32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
      %d = te.read %X[%n, %c, %y + %r, %x + %s, %ci] : tensor<1x2x16x16x16xf32>
      %w = te.read %W[%ko, %c, %r, %s, %ci, %kv] : tensor<2x2x3x3x16x16xf32>
      %p = arith.mulf %d, %w : f32
      te.yield %p : f32
    }
    %out = te.compute "out" [1, 2, 14, 14, 16] (%n, %ko, %y, %x, %kv) : tensor<1x2x14x14x16xf32> {
      %a = te.read %acc[%n, %ko, %y, %x, %kv] : tensor<1x2x14x14x16xf32>
      %b = te.read %B[%ko * 16 + %kv] : tensor<32xf32>
      %s = arith.addf %a, %b : f32
      te.yield %s : f32
    }
    te.return %out : tensor<1x2x14x14x16xf32>
  }
}

// CHECK-LABEL: te.schedule @conv {
// CHECK-NEXT:   %n, %ko, %y, %x, %kv, %c, %r, %s, %ci = te.loops "conv" [9]
// CHECK-NEXT:   %koo, %koi = te.split %ko [-1, 2]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 14]
// CHECK-NEXT:   te.reorder %n, %koo, %y, %xo, %c, %r, %s, %ci, %xi, %koi, %kv
// CHECK-NEXT:   %n_out, %ko_out, %y_out, %x_out, %kv_out = te.reverse_compute_at "out" at %xo [5]
// CHECK-NEXT:   te.set_scope "conv" "register"
// CHECK-NEXT:   %W0 = te.cache_read "W" in "conv" at %ci scope "register" [1]
// CHECK-NEXT:   %W0o, %W0i = te.split %W0 [-1, 16]
// CHECK-NEXT:   te.unroll %W0o
// CHECK-NEXT:   te.vectorize %W0i
// CHECK-NEXT:   %n_koo_y = te.fuse %n, %koo, %y
// CHECK-NEXT:   te.parallel %n_koo_y
// CHECK-NEXT:   te.unroll %ci
// CHECK-NEXT:   te.unroll %xi
// CHECK-NEXT:   te.unroll %koi
// CHECK-NEXT:   te.unroll %ko_out
// CHECK-NEXT:   te.unroll %x_out
// CHECK-NEXT:   te.vectorize %kv
// CHECK-NEXT:   te.vectorize %kv_out
// CHECK-NEXT: }
