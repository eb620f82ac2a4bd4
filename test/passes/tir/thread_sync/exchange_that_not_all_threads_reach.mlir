// RUN: opt-tool %s -p tir-thread-sync --verify-roundtrip | filecheck %s
// All threads come to the barrier, those of the condition store before it and load after it.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<8xf32>
    tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
      tir.if [%t * -1 + 5 >= 0] {
        %v = tir.load %x[%t] : memref<8xf32>
        tir.store %v, %s[%t] : memref<8xf32>
        %w = tir.load %s[%t * -1 + 5] : memref<8xf32>
        tir.store %w, %y[%t] : memref<8xf32>
      }
    }
  }
}

// CHECK:      tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
// CHECK-NEXT:   %v = tir.load %x[%t] where [%t * -1 + 5 >= 0] : memref<8xf32>
// CHECK-NEXT:   tir.store %v, %s[%t] where [%t * -1 + 5 >= 0] : memref<8xf32>
// CHECK-NEXT:   tir.barrier "warp"
// CHECK-NEXT:   %w = tir.load %s[%t * -1 + 5] where [%t * -1 + 5 >= 0] : memref<8xf32>
// CHECK-NEXT:   tir.store %w, %y[%t] where [%t * -1 + 5 >= 0] : memref<8xf32>
