// RUN: opt-tool %s -p tir-thread-sync --verify-roundtrip | filecheck %s
// Threads with less to do go round with the others, so that all come to the barriers.

tir.func @f(%n: index, %x: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>}, %y: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      tir.for %i = 0 to min [%n, %n + %t * -1 + 3] "i" {
        %v = tir.load %x[%t, %i] : memref<64x?xf32>
        tir.store %v, %s[%t] : memref<64xf32>
        %w = tir.load %s[%t floordiv 8] : memref<64xf32>
        tir.store %w, %y[%t, %i] : memref<64x?xf32>
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to min [%n, %n + 3] "i" {
// CHECK-NEXT:   %v = tir.load %x[%t, %i] where [%n + %t * -1 + %i * -1 + 2 >= 0]
// CHECK-NEXT:   tir.barrier "shared"
// CHECK-NEXT:   tir.store %v, %s[%t] where [%n + %t * -1 + %i * -1 + 2 >= 0]
// CHECK-NEXT:   tir.barrier "shared"
// CHECK-NEXT:   %w = tir.load %s[%t floordiv 8] where
