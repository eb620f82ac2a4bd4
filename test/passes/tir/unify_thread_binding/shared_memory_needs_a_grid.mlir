// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// A kernel without a grid that shares a buffer gets a grid of one block.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %s = tir.alloc "s" scope "shared" : memref<4xf32>
  tir.for %j = 0 to 4 thread "threadIdx.x" "y.j" {
    tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" {
      %v = tir.load %x[%i] : memref<4xf32>
      tir.store %v, %s[%i] : memref<4xf32>
    }
    %w = tir.load %s[%j * -1 + 3] : memref<4xf32>
    tir.store %w, %y[%j] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %0 = 0 to 1 thread "blockIdx.x" "y.j.grid" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<4xf32>
// CHECK-NEXT:     tir.for %j = 0 to 4 thread "threadIdx.x" "y.j" {
// CHECK-NEXT:       %v = tir.load %x[%j] : memref<4xf32>
// CHECK-NEXT:       tir.store %v, %s[%j] : memref<4xf32>
// CHECK-NEXT:       %w = tir.load %s[%j * -1 + 3] : memref<4xf32>
// CHECK-NEXT:       tir.store %w, %y[%j] : memref<4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
