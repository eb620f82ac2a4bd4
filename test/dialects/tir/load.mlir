// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A guarded load gives zero where a condition fails; no element outside is touched.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}

// CHECK: %v = tir.load %x[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
// LLVM: %{{[0-9]+}} = llvm.icmp "sge" %i, %{{[0-9]+}} : i64
// LLVM: %{{[0-9]+}} = llvm.select %{{[0-9]+}}, %{{[0-9]+}}, %x : i1, !llvm.ptr
// LLVM: %{{[0-9]+}} = llvm.load %{{[0-9]+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// LLVM: %v = llvm.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i1, f32
