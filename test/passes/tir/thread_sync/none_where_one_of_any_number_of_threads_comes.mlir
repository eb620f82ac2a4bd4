// RUN: opt-tool %s -p tir-thread-sync --verify-roundtrip | filecheck %s
// Nobody knows how many threads there are along y, but along x only the first does anything: each element has one.

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %tx = 0 to 2 thread "threadIdx.x" "x" {
    tir.for %ty = 0 to min [%n] thread "threadIdx.y" "y" {
      tir.if [%tx == 0] {
        %v = tir.load %x[%ty] : memref<?xf32>
        tir.store %v, %y[%ty] : memref<?xf32>
        %w = tir.load %y[%ty] : memref<?xf32>
        tir.store %w, %y[%ty] : memref<?xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NOT:   tir.barrier
// CHECK:       tir.if [%tx == 0] {
// CHECK-NEXT:    %v = tir.load %x[%ty]
// CHECK-NOT:   tir.barrier
