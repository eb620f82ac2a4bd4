// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Each iteration with its numbers in the addresses; what two iterations read alike is read once.

tir.func @f(%x: memref<3xf32>, %y: memref<3xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 unrolled "y.i" {
    %v = tir.load %x[%i] : memref<3xf32>
    tir.store %v, %y[%i * -1 + 2] : memref<3xf32>
  }
}
tir.func @shared(%x: memref<1xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 2 unrolled "y.i" {
    %v = tir.load %x[0] : memref<1xf32>
    tir.store %v, %y[%i] : memref<2xf32>
  }
}

// CHECK-LABEL: llvm.func internal @f.body
// CHECK-NEXT: [[V0:%.+]] = llvm.load %x {
// CHECK-NEXT: [[Y2:%.+]] = llvm.getelementptr %y[2]
// CHECK-NEXT: llvm.store [[V0]], [[Y2]]
// CHECK-NEXT: [[X1:%.+]] = llvm.getelementptr %x[1]
// CHECK-NEXT: [[V1:%.+]] = llvm.load [[X1]]
// CHECK-NEXT: [[Y1:%.+]] = llvm.getelementptr %y[1]
// CHECK-NEXT: llvm.store [[V1]], [[Y1]]
// CHECK-NEXT: [[X2:%.+]] = llvm.getelementptr %x[2]
// CHECK-NEXT: [[V2:%.+]] = llvm.load [[X2]]
// CHECK-NEXT: llvm.store [[V2]], %y {
// CHECK-NEXT: llvm.return

// CHECK-LABEL: llvm.func internal @shared.body
// CHECK-COUNT-1: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.return
