// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// The result is copied out of the registers by a stage of its own. One tile has all rows: no time to fetch a panel ahead,
// but its own lines are fetched while the sums are made.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @dense(%X: tensor<8x64xf32>, %W: tensor<2x64x32xf32>) -> tensor<8x64xf32> {
    %y = te.compute "dense" [8, 64] sum [64] (%i, %j, %k) : tensor<8x64xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<8x64xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<2x64x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x64xf32>
  }
}

// CHECK-LABEL: te.schedule @dense {
// CHECK-NEXT:   te.cache_write "dense" scope "register"
// CHECK-NEXT:   %i, %j, %k = te.loops "dense" [3]
// CHECK-NEXT:   %jo, %ja, %jb = te.split %j [-1, 2, 16]
// CHECK-NEXT:   %io, %ii = te.split %i [-1, 8]
// CHECK-NEXT:   te.reorder %jo, %io, %k, %ii, %ja, %jb
// CHECK-NEXT:   %i_out, %j_out = te.reverse_compute_at "dense.out" at %io [2]
// CHECK-NEXT:   %W0 = te.cache_read "W" in "dense" at %k scope "register" [1]
// CHECK-NEXT:   %W0o, %W0i = te.split %W0 [-1, 16]
// CHECK-NEXT:   te.unroll %W0o
// CHECK-NEXT:   te.vectorize %W0i
// CHECK-NEXT:   te.parallel %jo
// CHECK-NEXT:   %ko, %ki = te.split %k [-1, 4]
// CHECK-NEXT:   te.unroll %ki
// CHECK-NEXT:   te.prefetch "dense.out" at %io offset 0 write spread %ko
// CHECK-NEXT:   te.unroll %ii
// CHECK-NEXT:   te.unroll %i_out
// CHECK-NEXT:   te.unroll %ja
// CHECK-NEXT:   te.vectorize %jb
// CHECK-NEXT:   %j_outo, %j_outi = te.split %j_out [-1, 16]
// CHECK-NEXT:   te.unroll %j_outo
// CHECK-NEXT:   te.vectorize %j_outi
// CHECK-NEXT: }
