// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Of n times 16 elements in tiles of four vectors of 16 at most three vectors are left: the loop over them ends with the
// third. Of n elements the last vector of what is left may have lanes too (D): it stays.

te.func @f(
  %n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0 * 16)>},
  %B: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}
) -> (tensor<?xf32>, tensor<?xf32>) {
  %c = te.compute "C" [%n * 16] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  %d = te.compute "D" [%n] (%i) : tensor<?xf32> {
    %b = te.read %B[%i] : tensor<?xf32>
    te.yield %b : f32
  }
  te.return %c, %d : tensor<?xf32>, tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %iv, %il = te.split %i [-1, 4, 16]
  te.unroll %iv
  te.vectorize %il
  te.partition %io
  %j = te.loops "D" [1]
  %jo, %jv, %jl = te.split %j [-1, 4, 16]
  te.partition %jo
}

// CHECK:      tir.for %i0 = 0 to min [%n floordiv 4] "C.i.0" {
// CHECK-NEXT:   tir.for %i1 = 0 to 4 unrolled "C.i.1" {
// CHECK:      tir.for %i0 = 0 to 1 min [(%n mod 4 + 3) floordiv 4] "C.i.0.tail" {
// CHECK-NEXT:   tir.for %i1 = 0 to 3 unrolled "C.i.1.tail" {
// CHECK-NEXT:     tir.for %i2 = 0 to 16 min [%i1 * -16 + %n mod 4 * 16] vectorized "C.i.2.tail" {
// CHECK:      tir.for %i1 = 0 to 4 "D.i.1.tail" {
