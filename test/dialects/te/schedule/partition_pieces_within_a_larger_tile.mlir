// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Tiles of 4 within tiles of 16, of which only the last is not whole: there are no pieces in whole ones, and in the last
// all elements are.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %b = te.compute "B" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    %s = arith.addf %a, %a : f32
    te.yield %s : f32
  }
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %b[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 16]
  %j = te.compute_at "B" at %io [1]
  %jo, %ji = te.split %j [-1, 4]
  te.unroll %ji
  te.partition %jo tails [2, 1]
  te.partition %io
}

// CHECK:      tir.for %io = 0 to min [%n floordiv 16] "C.i.0" {
// CHECK:        tir.for %io_1 = 0 to 4 "B.i.0" {
// CHECK-NEXT:     tir.for %ii = 0 to 4 unrolled "B.i.1" {
// CHECK:        tir.for %io_1 = 0 to 0 "B.i.0.tail" {
// CHECK:        tir.for %ii = 0 to 16 "C.i.1" {
// CHECK:      tir.for %io = 0 to 1 min [(%n mod 16 + 15) floordiv 16] "C.i.0.tail" {
// CHECK:        tir.for %io_1 = 0 to 3 min [%n floordiv 16 * -4 + %n floordiv 4] "B.i.0.tail{{.*}}" {
// CHECK-NEXT:     tir.for %ii = 0 to 4 unrolled
// CHECK:        tir.for %io_1 = 0 to 1 min [(%n floordiv 2) mod 2] "B.i.0.tail{{.*}}" {
// CHECK-NEXT:     tir.for %ii = 0 to 2 unrolled
// CHECK:        tir.for %io_1 = 0 to 1 min [%n mod 2] "B.i.0.tail{{.*}}" {
// CHECK-NEXT:     tir.for %ii = 0 to 1 unrolled
