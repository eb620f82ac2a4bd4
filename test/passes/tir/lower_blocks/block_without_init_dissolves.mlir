// RUN: opt-tool %s -p tir-lower-blocks | filecheck %s
// Nothing but the block itself goes; functions without blocks stay as they are.

tir.func @with(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    tir.block "y" {
      %x = tir.load %X[%i] : memref<4xf32>
      tir.store %x, %y[%i] : memref<4xf32>
    }
  }
}
tir.func @without(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %x = tir.load %X[%i] : memref<4xf32>
    tir.store %x, %y[%i] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @with(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:     %x = tir.load %X[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %x, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @without(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 parallel "y.i" {
// CHECK-NEXT:     %x = tir.load %X[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %x, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
