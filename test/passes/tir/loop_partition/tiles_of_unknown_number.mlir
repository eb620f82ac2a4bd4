// RUN: opt-tool %s -p tir-loop-partition,tir-simplify | filecheck %s
// The whole tiles need no test; what is left is one more iteration. Conditions say where elements end as tails do.

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %i = 0 to min [(%n + 15) floordiv 16] "y.i" attributes {pragma_loop_partition_hint = 1 : i64} {
    tir.for %j = 0 to 16 "y.j" {
      tir.if [%n - %i * 16 - %j - 1 >= 0] {
        %v = tir.load %x[%i * 16 + %j] : memref<?xf32>
        tir.store %v, %y[%i * 16 + %j] : memref<?xf32>
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to min [%n floordiv 16] "y.i" {
// CHECK-NEXT:   tir.for %j = 0 to 16 "y.j" {
// CHECK-NEXT:     tir.load %x[%i * 16 + %j]
// CHECK:      tir.for %i = 0 to 1 min [(%n mod 16 + 15) floordiv 16] "y.i.tail" {
// CHECK-NEXT:   tir.for %j = 0 to 16 "y.j.tail" {
// CHECK-NEXT:     tir.if [%n mod 16 + %j * -1 - 1 >= 0] {
