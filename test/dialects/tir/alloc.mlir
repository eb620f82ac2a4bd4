// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A buffer of the kernel, filled and read from its end: on the stack.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc "t" scope "local" : memref<8xf32>
  tir.for %i = 0 to 8 "t.i" {
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %t[%i] : memref<8xf32>
  }
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %t[%i * -1 + 7] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}

// CHECK: %t = tir.alloc "t" scope "local" : memref<8xf32>
// LLVM: %{{[0-9]+}} = llvm.alloca %{{[0-9]+}} x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
// LLVM: llvm.store %v, %{{[0-9]+}} {alignment = 4 : i64} : f32, !llvm.ptr
// LLVM: %v_1 = llvm.load %{{[0-9]+}} {alignment = 4 : i64} : !llvm.ptr -> f32
