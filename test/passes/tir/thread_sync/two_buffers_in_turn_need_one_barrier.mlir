// RUN: opt-tool %s -p tir-thread-sync | filecheck %s
// What is read in one iteration is overwritten in the next but one.

tir.func @f(%x: memref<4x64xf32>, %y: memref<4x64xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<2x64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      tir.for %k = 0 to 4 "k" {
        %v = tir.load %x[%k, %t] : memref<4x64xf32>
        tir.store %v, %s[%k mod 2, %t] : memref<2x64xf32>
        %w = tir.load %s[%k mod 2, %t * -1 + 63] : memref<2x64xf32>
        tir.store %w, %y[%k, %t] : memref<4x64xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4x64xf32>, %y: memref<4x64xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<2x64xf32>
// CHECK-NEXT:     tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
// CHECK-NEXT:       tir.for %k = 0 to 4 "k" {
// CHECK-NEXT:         %v = tir.load %x[%k, %t] : memref<4x64xf32>
// CHECK-NEXT:         tir.store %v, %s[%k mod 2, %t] : memref<2x64xf32>
// CHECK-NEXT:         tir.barrier "shared"
// CHECK-NEXT:         %w = tir.load %s[%k mod 2, %t * -1 + 63] : memref<2x64xf32>
// CHECK-NEXT:         tir.store %w, %y[%k, %t] : memref<4x64xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
