// RUN: opt-tool %s -p tir-thread-sync | filecheck %s
// One barrier before the loop, none in it.

tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      %a = tir.alloc "a" scope "local" : memref<1xf32>
      %v = tir.load %x[%t] : memref<64xf32>
      tir.store %v, %s[%t] : memref<64xf32>
      tir.store %v, %a[0] : memref<1xf32>
      tir.for %k = 0 to 64 "k" {
        %w = tir.load %s[%k] : memref<64xf32>
        %c = tir.load %a[0] : memref<1xf32>
        %d = arith.addf %c, %w : f32
        tir.store %d, %a[0] : memref<1xf32>
      }
      %r = tir.load %a[0] : memref<1xf32>
      tir.store %r, %y[%t] : memref<64xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<64xf32>
// CHECK-NEXT:     tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
// CHECK-NEXT:       %a = tir.alloc "a" scope "local" : memref<1xf32>
// CHECK-NEXT:       %v = tir.load %x[%t] : memref<64xf32>
// CHECK-NEXT:       tir.store %v, %s[%t] : memref<64xf32>
// CHECK-NEXT:       tir.store %v, %a[0] : memref<1xf32>
// CHECK-NEXT:       tir.barrier "shared"
// CHECK-NEXT:       tir.for %k = 0 to 64 "k" {
// CHECK-NEXT:         %w = tir.load %s[%k] : memref<64xf32>
// CHECK-NEXT:         %c = tir.load %a[0] : memref<1xf32>
// CHECK-NEXT:         %d = arith.addf %c, %w : f32
// CHECK-NEXT:         tir.store %d, %a[0] : memref<1xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %r = tir.load %a[0] : memref<1xf32>
// CHECK-NEXT:       tir.store %r, %y[%t] : memref<64xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
