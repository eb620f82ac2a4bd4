// RUN: opt-tool %s -p cpu-schedule | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @pool(%X: tensor<1x2x8x8x16xf32>) -> tensor<1x2x4x4x16xf32> {
    %y = te.compute "pool" [1, 2, 4, 4, 16] max [2, 2] (%n, %c, %y, %x, %v, %r, %s) : tensor<1x2x4x4x16xf32> {
      %d = te.read %X[%n, %c, %y * 2 + %r, %x * 2 + %s, %v] : tensor<1x2x8x8x16xf32>
      te.yield %d : f32
    }
    te.return %y : tensor<1x2x4x4x16xf32>
  }
}

// CHECK-LABEL: te.schedule @pool {
// CHECK-NEXT:   te.cache_write "pool" scope "register"
// CHECK-NEXT:   %n, %c, %y, %x, %v, %r, %s = te.loops "pool" [7]
// CHECK-NEXT:   te.reorder %n, %c, %y, %x, %r, %s, %v
// CHECK-NEXT:   %n_out, %c_out, %y_out, %x_out, %v_out = te.reverse_compute_at "pool.out" at %x [5]
// CHECK-NEXT:   %n_c_y = te.fuse %n, %c, %y
// CHECK-NEXT:   te.parallel %n_c_y
// CHECK-NEXT:   te.unroll %s
// CHECK-NEXT:   te.unroll %r
// CHECK-NEXT:   te.vectorize %v
// CHECK-NEXT:   te.vectorize %v_out
// CHECK-NEXT: }
