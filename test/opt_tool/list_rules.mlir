// RUN: opt-tool --list-rules tir-fuse-multiply-add | filecheck %s
// RUN: opt-tool --list-rules relay-canonicalize-ops | filecheck %s --check-prefix=CHECK-LOWERING
// RUN: not opt-tool --list-rules tir-vectorize-loop 2>&1 | filecheck %s --check-prefix=CHECK-NONE
// RUN: opt-tool %s -p tir-fuse-multiply-add --trace-rules -o %t 2>&1 | filecheck %s --check-prefix=CHECK-TRACE
// RUN: opt-tool %s -p tir-fuse-multiply-add --fuel=0 | filecheck %s --check-prefix=CHECK-FUEL
// Rules are listed by file and line, and traced and counted at every level.

// CHECK:          fuse_multiply_add.py:{{[0-9]+}}  arith.addf(c, arith.mulf(a, b)).has_dtype(('float32', 'float64')) >> math.fma(a, b, c)
// CHECK-LOWERING: canonicalize_ops.py:{{[0-9]+}}
// CHECK-NONE:     error: tir-vectorize-loop has no rewrite rules: it is written as a function
// CHECK-TRACE:    fuse_multiply_add.py:{{[0-9]+}}  %s -> %0
// CHECK-FUEL:     arith.mulf
tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %x[%i] : memref<8xf32>
    %b = tir.load %y[%i] : memref<8xf32>
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %b, %p : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}
