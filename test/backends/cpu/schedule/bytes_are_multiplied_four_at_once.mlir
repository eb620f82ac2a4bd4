// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: opt-tool %s -p cpu-schedule,te-to-tir | filecheck %s --check-prefix TIR
// Four input channels are one word of the data: 7 pixels by 2 vectors of accumulators, one instruction each.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @conv(%X: tensor<1x1x7x7x16xui8>, %W: tensor<1x4x1x1x32x4xi8>) -> tensor<1x2x7x7x16xf32> {
    %acc = te.compute "conv" [1, 2, 7, 7, 16] sum [4, 1, 1, 4] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci)
        : tensor<1x2x7x7x16xi32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
      %d = te.read %X[%n, %c floordiv 4, %y + %r, %x + %s, (%c mod 4) * 4 + %ci] : tensor<1x1x7x7x16xui8>
      %w = te.read %W[(%ko * 16 + %kv) floordiv 32, %c, %r, %s, (%ko * 16 + %kv) mod 32, %ci] : tensor<1x4x1x1x32x4xi8>
      %u = arith.extui %d : i8 to i32
      %v = arith.extsi %w : i8 to i32
      %p = arith.muli %u, %v : i32
      te.yield %p : i32
    }
    %out = te.compute "out" [1, 2, 7, 7, 16] (%n, %ko, %y, %x, %kv) : tensor<1x2x7x7x16xf32> {
      %a = te.read %acc[%n, %ko, %y, %x, %kv] : tensor<1x2x7x7x16xi32>
      %f = arith.sitofp %a : i32 to f32
      te.yield %f : f32
    }
    te.return %out : tensor<1x2x7x7x16xf32>
  }
}

// CHECK-LABEL: te.schedule @conv {
// CHECK-NEXT:   %n, %ko, %y, %x, %kv, %c, %r, %s, %ci = te.loops "conv" [9]
// CHECK-NEXT:   %koo, %koi = te.split %ko [-1, 2]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 7]
// CHECK-NEXT:   te.reorder %n, %koo, %y, %xo, %c, %r, %s, %xi, %koi, %kv, %ci
// CHECK-NEXT:   %n_out, %ko_out, %y_out, %x_out, %kv_out = te.reverse_compute_at "out" at %xo [5]
// CHECK-NEXT:   te.set_scope "conv" "register"
// CHECK-NEXT:   te.tensorize %kv @cpu.vnni_u8s8s32_16x4
// CHECK-NEXT:   %n_koo_y = te.fuse %n, %koo, %y
// CHECK-NEXT:   te.parallel %n_koo_y
// CHECK-NEXT:   te.unroll %c

// TIR:      tir.for %c = 0 to 4 unrolled reduction
// TIR:      tir.load %X[0, 0, %n_koo_y + %r, %xi + %xo * 7 + %s, %c * 4 + lane] : memref<1x1x7x7x16xui8>, vector<4xi8>
// TIR:      tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"
