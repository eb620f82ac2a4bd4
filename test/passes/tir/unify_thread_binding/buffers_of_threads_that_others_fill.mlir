// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// Each row of threads has a buffer that its threads fill together: an array of them, shared.

tir.func @f(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %i = 0 to 2 thread "threadIdx.y" "i" {
      %s = tir.alloc "s" scope "local" : memref<4xf32>
      tir.for %j = 0 to 4 thread "threadIdx.x" "s.j" {
        %v = tir.load %x[%i, %j] : memref<2x4xf32>
        tir.store %v, %s[%j] : memref<4xf32>
      }
      tir.for %k = 0 to 4 thread "threadIdx.x" "y.k" {
        %w = tir.load %s[%k * -1 + 3] : memref<4xf32>
        tir.store %w, %y[%i, %k] : memref<2x4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<2x4xf32>
// CHECK-NEXT:     tir.for %i = 0 to 2 thread "threadIdx.y" "i" {
// CHECK-NEXT:       tir.for %j = 0 to 4 thread "threadIdx.x" "s.j" {
// CHECK-NEXT:         %v = tir.load %x[%i, %j] : memref<2x4xf32>
// CHECK-NEXT:         tir.store %v, %s[%i, %j] : memref<2x4xf32>
// CHECK-NEXT:         %w = tir.load %s[%i, %j * -1 + 3] : memref<2x4xf32>
// CHECK-NEXT:         tir.store %w, %y[%i, %j] : memref<2x4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
