// RUN: opt-tool %s -p tir-thread-sync --verify-roundtrip | filecheck %s
// Two loops reach four elements, their bounds only the three that are a thread's own.

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to min [(%n + 2) floordiv 3] thread "threadIdx.x" "t" {
    tir.for %i = 0 to 2 "i.0" {
      tir.for %j = 0 to 2 min [%n + %t * -3 + %i * -2, %i * -2 + 3] "i.1" {
        %v = tir.load %x[%t * 3 + %i * 2 + %j] : memref<?xf32>
        tir.store %v, %y[%t * 3 + %i * 2 + %j] : memref<?xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NOT:   tir.barrier
// CHECK:       tir.store %v, %y
// CHECK-NOT:   tir.barrier
