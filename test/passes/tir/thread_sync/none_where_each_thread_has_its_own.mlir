// RUN: opt-tool %s -p tir-thread-sync | filecheck %s
// Threads read what they wrote themselves, and different rows of a buffer.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<2x8xf32>
    tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
      tir.for %k = 0 to 2 "k" {
        %v = tir.load %x[%t * 2 + %k] : memref<8xf32>
        tir.store %v, %s[0, %t * 2 + %k] : memref<2x8xf32>
      }
      tir.for %l = 0 to 2 "l" {
        %w = tir.load %s[0, %t * 2 - %l + 1] : memref<2x8xf32>
        tir.store %w, %s[1, %t * 2 + %l] : memref<2x8xf32>
        %u = tir.load %s[1, %t * 2 + %l] : memref<2x8xf32>
        tir.store %u, %y[%t * 2 + %l] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<2x8xf32>
// CHECK-NEXT:     tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
// CHECK-NEXT:       tir.for %k = 0 to 2 "k" {
// CHECK-NEXT:         %v = tir.load %x[%t * 2 + %k] : memref<8xf32>
// CHECK-NEXT:         tir.store %v, %s[0, %t * 2 + %k] : memref<2x8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %l = 0 to 2 "l" {
// CHECK-NEXT:         %w = tir.load %s[0, %t * 2 + %l * -1 + 1] : memref<2x8xf32>
// CHECK-NEXT:         tir.store %w, %s[1, %t * 2 + %l] : memref<2x8xf32>
// CHECK-NEXT:         %u = tir.load %s[1, %t * 2 + %l] : memref<2x8xf32>
// CHECK-NEXT:         tir.store %u, %y[%t * 2 + %l] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
