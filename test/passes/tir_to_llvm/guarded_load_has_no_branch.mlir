// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Where the guard fails, the start of the buffer is read and dropped. A guard that the ranges decide costs nothing.

tir.func @may_fail(%x: memref<8xf32>, %y: memref<9xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 9 "y.i" {
    %v = tir.load %x[%i - 1] where [%i >= 1] : memref<8xf32>
    tir.store %v, %y[%i] : memref<9xf32>
  }
}
tir.func @always(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] where [%i >= 0] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}

// CHECK-LABEL: llvm.func internal @may_fail.body
// CHECK: [[ZERO:%.+]] = llvm.mlir.constant(0.000000e+00 : f32) : f32
// CHECK: ^bb1(%i: i64):
// CHECK: [[TEST:%.+]] = llvm.icmp "sge" %i, %{{.+}} : i64
// CHECK-NOT: llvm.cond_br
// CHECK: [[SAFE:%.+]] = llvm.select [[TEST]], %{{.+}}, %x : i1, !llvm.ptr
// CHECK-NEXT: [[READ:%.+]] = llvm.load [[SAFE]]
// CHECK-NEXT: %v = llvm.select [[TEST]], [[READ]], [[ZERO]] : i1, f32

// CHECK-LABEL: llvm.func internal @always.body
// CHECK-NOT: llvm.select
// CHECK: llvm.return
