// RUN: opt-tool %s -p tir-simplify | filecheck %s
// It marks a phase of the kernel: `tir-to-llvm` cuts there.

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 1 parallel "y.i" {
    %x = tir.load %X[%i] : memref<4xf32>
    tir.store %x, %y[%i] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 1 parallel "y.i" {
// CHECK-NEXT:     %x = tir.load %X[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %x, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
