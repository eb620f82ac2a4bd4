// RUN: opt-tool %s -p tir-thread-sync --verify-roundtrip | filecheck %s
// Also where nothing is exchanged: who has less to do comes to a barrier that is there as often as the others.

tir.func @f(%n: index, %x: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>}, %y: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      tir.for %i = 0 to min [%n, %n + %t * -1 + 3] "i" {
        %v = tir.load %x[%t, %i] : memref<64x?xf32>
        tir.barrier "shared"
        tir.store %v, %y[%t, %i] : memref<64x?xf32>
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to min [%n, %n + 3] "i" {
// CHECK-NEXT:   %v = tir.load %x[%t, %i] where [%n + %t * -1 + %i * -1 + 2 >= 0]
// CHECK-NEXT:   tir.barrier "shared"
// CHECK-NEXT:   tir.store %v, %y[%t, %i] where [%n + %t * -1 + %i * -1 + 2 >= 0]
