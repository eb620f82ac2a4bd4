// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Whole tiles have no bound. What is left goes in pieces of constant sizes (C), or is one iteration under its bounds (D).

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  %d = te.compute "D" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c, %d : tensor<?xf32>, tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 9]
  te.unroll %ii
  te.partition %io tails [4, 1]
  %j = te.loops "D" [1]
  %jo, %ji = te.split %j [-1, 16]
  te.vectorize %ji
  te.parallel %jo
  te.partition %jo
}

// CHECK:      tir.for %io = 0 to min [%n floordiv 9] "C.i.0" {
// CHECK-NEXT:   tir.for %ii = 0 to 9 unrolled "C.i.1" {
// CHECK:      tir.for %io = 0 to 2 min [(%n mod 9) floordiv 4] "C.i.0.tail" {
// CHECK-NEXT:   tir.for %ii = 0 to 4 unrolled "C.i.1.tail" {
// CHECK-NEXT:     tir.block "C" {
// CHECK-NEXT:       tir.load %A[%ii + %n + %n mod 9 * -1 + %io * 4]
// CHECK:      tir.for %io = 0 to 3 min [(%n mod 9) mod 4] "C.i.0.tail_1" {
// CHECK-NEXT:   tir.for %ii = 0 to 1 unrolled "C.i.1.tail_1" {
// CHECK-NEXT:     tir.block "C" {
// CHECK-NEXT:       tir.load %A[%ii + %n + (%n mod 9) mod 4 * -1 + %io]
// CHECK:      tir.for %io = 0 to min [%n floordiv 16] parallel "D.i.0" {
// CHECK-NEXT:   tir.for %ii = 0 to 16 vectorized "D.i.1" {
// CHECK:      tir.for %io = 0 to 1 min [(%n mod 16 + 15) floordiv 16] "D.i.0.tail" {
// CHECK-NEXT:   tir.for %ii = 0 to 16 min [%n mod 16] vectorized "D.i.1.tail" {
