// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// Shared memory has a size that is known. A buffer that has none lies in global memory, a part of it for each block.

tir.func @f(%n: index, %x: memref<8x?xf32> {te.shape = #te.map<(d0) -> (8, d0)>}, %y: memref<8x?xf32> {te.shape = #te.map<(d0) -> (8, d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 8 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" [%n] : memref<?xf32>
    tir.for %i = 0 to min [%n] thread "threadIdx.x" "s.i" {
      %v = tir.load %x[%b, %i] : memref<8x?xf32>
      tir.store %v, %s[%i] : memref<?xf32>
    }
    tir.for %j = 0 to min [%n] thread "threadIdx.x" "y.j" {
      %w = tir.load %s[%n + %j * -1 - 1] : memref<?xf32>
      tir.store %w, %y[%b, %j] : memref<8x?xf32>
    }
  }
}

// CHECK:      %s = tir.alloc "s" scope "global" [8, %n] : memref<8x?xf32>
// CHECK-NEXT: tir.for %b = 0 to 8 thread "blockIdx.x" "b" {
// CHECK:        tir.store %v, %s[%b, %i] : memref<8x?xf32>
// CHECK:        tir.load %s[%b, %n + %i * -1 - 1] : memref<8x?xf32>
