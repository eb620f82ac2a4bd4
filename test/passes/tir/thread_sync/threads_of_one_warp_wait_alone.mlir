// RUN: opt-tool %s -p tir-thread-sync | filecheck %s
// Rows of 16 threads, two in each warp: what a row exchanges stays in the warp, what rows exchange does not.

tir.func @f(%x: memref<4x16xf32>, %y: memref<4x16xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<4x16xf32>
    %r = tir.alloc "r" scope "shared" : memref<4x16xf32>
    tir.for %i = 0 to 4 thread "threadIdx.y" "i" {
      tir.for %t = 0 to 16 thread "threadIdx.x" "t" {
        %v = tir.load %x[%i, %t] : memref<4x16xf32>
        tir.store %v, %s[%i, %t] : memref<4x16xf32>
        %w = tir.load %s[%i, %t * -1 + 15] : memref<4x16xf32>
        tir.store %w, %r[%i, %t] : memref<4x16xf32>
        %u = tir.load %r[%i * -1 + 3, %t] : memref<4x16xf32>
        tir.store %u, %y[%i, %t] : memref<4x16xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4x16xf32>, %y: memref<4x16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<4x16xf32>
// CHECK-NEXT:     %r = tir.alloc "r" scope "shared" : memref<4x16xf32>
// CHECK-NEXT:     tir.for %i = 0 to 4 thread "threadIdx.y" "i" {
// CHECK-NEXT:       tir.for %t = 0 to 16 thread "threadIdx.x" "t" {
// CHECK-NEXT:         %v = tir.load %x[%i, %t] : memref<4x16xf32>
// CHECK-NEXT:         tir.store %v, %s[%i, %t] : memref<4x16xf32>
// CHECK-NEXT:         tir.barrier "warp"
// CHECK-NEXT:         %w = tir.load %s[%i, %t * -1 + 15] : memref<4x16xf32>
// CHECK-NEXT:         tir.store %w, %r[%i, %t] : memref<4x16xf32>
// CHECK-NEXT:         tir.barrier "shared"
// CHECK-NEXT:         %u = tir.load %r[%i * -1 + 3, %t] : memref<4x16xf32>
// CHECK-NEXT:         tir.store %u, %y[%i, %t] : memref<4x16xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
