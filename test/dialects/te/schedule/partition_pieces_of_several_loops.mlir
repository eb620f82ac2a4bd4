// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Several loops count through a tile: a piece is some iterations of the outer ones, or a part of one.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %im, %ii = te.split %i [-1, 3, 4]
  te.partition %io tails [8, 4, 2, 1]
}

// CHECK:      tir.for %i0 = 0 to min [%n floordiv 12] "C.i.0" {
// CHECK-NEXT:   tir.for %i1 = 0 to 3 "C.i.1" {
// CHECK-NEXT:     tir.for %i2 = 0 to 4 "C.i.2" {
// CHECK:      tir.for %i0 = 0 to 1 min [(%n mod 12) floordiv 8] "C.i.0.tail" {
// CHECK-NEXT:   tir.for %i1 = 0 to 2 "C.i.1.tail" {
// CHECK-NEXT:     tir.for %i2 = 0 to 4 "C.i.2.tail" {
// CHECK:      tir.for %i0 = 0 to 1 min [{{.*}}] "C.i.0.tail_1" {
// CHECK-NEXT:   tir.for %i1 = 0 to 1 "C.i.1.tail_1" {
// CHECK-NEXT:     tir.for %i2 = 0 to 4 "C.i.2.tail_1" {
// CHECK:      tir.for %i0 = 0 to 1 min [{{.*}}] "C.i.0.tail_2" {
// CHECK-NEXT:   tir.for %i1 = 0 to 1 "C.i.1.tail_2" {
// CHECK-NEXT:     tir.for %i2 = 0 to 2 "C.i.2.tail_2" {
