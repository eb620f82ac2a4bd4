// RUN: opt-tool %s -p te-to-tir | filecheck %s
// 40 = 3 * 2 * 8 - 8: though whole vectors end there, the tail is in the innermost loop, so that a box of the two inner
// ones is a tile whose consumer can stand in it. So it is where 48 of 64 are whole steps: the extents are as given.

te.func @f(%A: tensor<40xf32>, %B: tensor<48xf32>) -> (tensor<40xf32>, tensor<48xf32>) {
  %c = te.compute "C" [40] (%i) : tensor<40xf32> {
    %a = te.read %A[%i] : tensor<40xf32>
    te.yield %a : f32
  }
  %d = te.compute "D" [48] (%i) : tensor<48xf32> {
    %a = te.read %B[%i] : tensor<48xf32>
    te.yield %a : f32
  }
  te.return %c, %d : tensor<40xf32>, tensor<48xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ia, %ib = te.split %i [-1, 2, 8]
  %j = te.loops "D" [1]
  %jo, %ja, %jb = te.split %j [4, 2, 8]
}
// CHECK:      tir.for %i0 = 0 to 3 "C.i.0" {
// CHECK-NEXT:   tir.for %i1 = 0 to 2 "C.i.1" {
// CHECK-NEXT:     tir.for %i2 = 0 to 8 min [%i1 * -8 + %i0 * -16 + 40] "C.i.2" {
// CHECK:      tir.for %i0 = 0 to 4 "D.i.0" {
// CHECK-NEXT:   tir.for %i1 = 0 to 2 "D.i.1" {
// CHECK-NEXT:     tir.for %i2 = 0 to 8 min [%i1 * -8 + %i0 * -16 + 48] "D.i.2" {
