// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// An unrolled loop decides which side of a select is meant: the other one is left out, and what only it needs. A
// condition that nobody knows before the kernel runs stays a select.

// CHECK-LABEL: @f.body
// CHECK:         %b = llvm.load
// CHECK:         %[[S:.*]] = llvm.fadd
// CHECK-NEXT:    llvm.store %[[S]]
// CHECK-NEXT:    %[[D:.*]] = llvm.fsub
// CHECK-NOT:     llvm.fadd
// CHECK-NOT:     llvm.select
// CHECK-NOT:     llvm.fmul
// CHECK:         llvm.store %[[D]]
// CHECK-NOT:     llvm.fadd
// CHECK:         llvm.return
tir.func @f(%x: memref<2xf32>, %y: memref<2xf32>) {
  tir.for %e = 0 to 2 unrolled "y.e" {
    %a = tir.load %x[0] : memref<2xf32>
    %b = tir.load %x[1] : memref<2xf32>
    %0 = arith.addf %a, %b : f32
    %1 = arith.subf %a, %b : f32
    %2 = arith.mulf %a, %b : f32
    %3 = tir.condition [%e == 0] : i1
    %4 = tir.condition [%e - 2 >= 0] : i1
    %5 = arith.select %4, %2, %1 : f32
    %6 = arith.select %3, %0, %5 : f32
    tir.store %6, %y[%e] : memref<2xf32>
  }
}

// CHECK-LABEL: @unknown.body
// CHECK-DAG:     llvm.fadd
// CHECK-DAG:     llvm.fsub
// CHECK:         llvm.select
tir.func @unknown(%n: index, %x: memref<2xf32>, %y: memref<2xf32>) {
  tir.for %e = 0 to 2 unrolled "y.e" {
    %a = tir.load %x[0] : memref<2xf32>
    %b = tir.load %x[1] : memref<2xf32>
    %0 = arith.addf %a, %b : f32
    %1 = arith.subf %a, %b : f32
    %3 = tir.condition [%e + %n - 3 >= 0] : i1
    %6 = arith.select %3, %0, %1 : f32
    tir.store %6, %y[%e] : memref<2xf32>
  }
}

// A condition may stand further out, or before a store: it decides as well.
// CHECK-LABEL: @before.body
// CHECK-NOT:     llvm.fmul
// CHECK:         llvm.fadd
// CHECK-NOT:     llvm.select
// CHECK-NOT:     llvm.fmul
// CHECK:         llvm.return
tir.func @before(%x: memref<2xf32>, %y: memref<2xf32>) {
  tir.for %e = 0 to 2 unrolled "y.e" {
    %3 = tir.condition [%e - 2 >= 0] : i1
    tir.for %r = 0 to 4 "y.r" {
      %a = tir.load %x[0] : memref<2xf32>
      %b = tir.load %x[1] : memref<2xf32>
      %0 = arith.addf %a, %b : f32
      %1 = arith.mulf %a, %b : f32
      %6 = arith.select %3, %1, %0 : f32
      tir.store %6, %y[%e] : memref<2xf32>
    }
  }
}
