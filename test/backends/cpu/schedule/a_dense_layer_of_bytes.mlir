// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Six rows by two vectors of accumulators, an instruction for four features of one row and sixteen units.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @dense(%X: tensor<6x64xui8>, %W: tensor<2x16x32x4xi8>) -> tensor<6x64xf32> {
    %acc = te.compute "dense" [6, 64] sum [16, 4] (%m, %n, %k, %ki) : tensor<6x64xi32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %d = te.read %X[%m, %k * 4 + %ki] : tensor<6x64xui8>
      %w = te.read %W[%n floordiv 32, %k, %n mod 32, %ki] : tensor<2x16x32x4xi8>
      %u = arith.extui %d : i8 to i32
      %v = arith.extsi %w : i8 to i32
      %p = arith.muli %u, %v : i32
      te.yield %p : i32
    }
    %out = te.compute "out" [6, 64] (%m, %n) : tensor<6x64xf32> {
      %a = te.read %acc[%m, %n] : tensor<6x64xi32>
      %f = arith.sitofp %a : i32 to f32
      te.yield %f : f32
    }
    te.return %out : tensor<6x64xf32>
  }
}

// CHECK-LABEL: te.schedule @dense {
// CHECK-NEXT:   %m, %n, %k, %ki = te.loops "dense" [4]
// CHECK-NEXT:   %no, %na, %nb = te.split %n [2, 2, 16]
// CHECK-NEXT:   %mo, %mi = te.split %m [-1, 6]
// CHECK-NEXT:   te.reorder %no, %mo, %k, %mi, %na, %nb, %ki
// CHECK-NEXT:   %m_out, %n_out = te.reverse_compute_at "out" at %mo [2]
// CHECK-NEXT:   te.set_scope "dense" "register"
// CHECK-NEXT:   te.tensorize %nb @cpu.vnni_u8s8s32_16x4
