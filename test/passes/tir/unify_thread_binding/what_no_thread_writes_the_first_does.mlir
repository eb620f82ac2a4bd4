// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// A buffer of the kernel outside of the threads' loops is shared; the first thread writes what is written once.

tir.func @f(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
    %m = tir.alloc "m" scope "global" : memref<1xf32>
    %v = tir.load %x[%b, 0] : memref<2x4xf32>
    tir.store %v, %m[0] : memref<1xf32>
    tir.for %j = 0 to 4 thread "threadIdx.x" "y.1" {
      %t = tir.alloc "t" scope "global" : memref<1xf32>
      %w = tir.load %m[0] : memref<1xf32>
      tir.store %w, %t[0] : memref<1xf32>
      %u = tir.load %t[0] : memref<1xf32>
      tir.store %u, %y[%b, %j] : memref<2x4xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
// CHECK-NEXT:     %m = tir.alloc "m" scope "shared" : memref<1xf32>
// CHECK-NEXT:     tir.for %j = 0 to 4 thread "threadIdx.x" "y.1" {
// CHECK-NEXT:       tir.if [%j == 0] {
// CHECK-NEXT:         %v = tir.load %x[%b, 0] : memref<2x4xf32>
// CHECK-NEXT:         tir.store %v, %m[0] : memref<1xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %t = tir.alloc "t" scope "local" : memref<1xf32>
// CHECK-NEXT:       %w = tir.load %m[0] : memref<1xf32>
// CHECK-NEXT:       tir.store %w, %t[0] : memref<1xf32>
// CHECK-NEXT:       %u = tir.load %t[0] : memref<1xf32>
// CHECK-NEXT:       tir.store %u, %y[%b, %j] : memref<2x4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
