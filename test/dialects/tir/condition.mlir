// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Conditions on indices as a value.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %inside = tir.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
    %v = tir.load %x[%i] : memref<8xf32>
    %zero = arith.constant 0.0 : f32
    %s = arith.select %inside, %v, %zero : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}

// CHECK: %inside = tir.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
// LLVM: %{{[0-9]+}} = llvm.icmp "sge" %i, %{{[0-9]+}} : i64
// LLVM: %{{[0-9]+}} = llvm.icmp "sge" %{{[0-9]+}}, %{{[0-9]+}} : i64
// LLVM: %{{[0-9]+}} = llvm.and %{{[0-9]+}}, %{{[0-9]+}} : i1
// LLVM: %s = llvm.select %{{[0-9]+}}, %v, %zero : i1, f32
