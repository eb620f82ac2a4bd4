// RUN: opt-tool %s -p tir-thread-sync | filecheck %s
// Each thread has two elements of y, however many threads there are; those of z are another thread's.

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %z: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 2 : i64} {
  tir.for %t = 0 to min [(%n + 1) floordiv 2] thread "threadIdx.x" "t" {
    tir.for %i = 0 to 2 min [%n - %t * 2] "i" {
      %v = tir.load %x[%t * 2 + %i] : memref<?xf32>
      tir.store %v, %y[%t * 2 + %i] : memref<?xf32>
      %w = tir.load %y[%t * 2 + %i] : memref<?xf32>
      tir.store %w, %z[%t * 2 + %i] : memref<?xf32>
    }
    tir.for %j = 0 to min [%n] "j" {
      %u = tir.load %z[%j] : memref<?xf32>
      tir.store %u, %y[%t] : memref<?xf32>
    }
  }
}
// CHECK-NOT: tir.barrier
// CHECK:     tir.store %w, %z
// CHECK:     tir.barrier "shared"
// CHECK:     tir.for %j
