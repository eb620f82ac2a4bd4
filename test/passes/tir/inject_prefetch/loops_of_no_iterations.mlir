// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// A loop that has no iterations fetches nothing for others: the lines are fetched around it.

tir.func @f(%A: memref<8x32xf32>, %C: memref<8x32xf32>) {
  tir.for %i = 0 to 8 "C.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64, spread = "C.j"}]} {
    tir.for %j = 0 to 0 "C.j" {
      %x = tir.load %A[%i, %j] : memref<8x32xf32>
      tir.store %x, %C[%i, %j] : memref<8x32xf32>
    }
  }
}
// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK:        tir.prefetch %A[%i + 1
// CHECK:        tir.for %j = 0 to 0 "C.j" {
// CHECK-NEXT:     tir.load
