// RUN: opt-tool %s -p te-to-tir | filecheck %s

// The tail of the inner loop depends on the outer one: outside of it, it runs to its extent and a predicate stays.

// CHECK:      tir.for %ii = 0 to 4 "C.i.1" {
// CHECK-NEXT:   tir.for %io = 0 to 3 "C.i.0" {
// CHECK-NEXT:     tir.block "C" where [%io * -4 + %ii * -1 + 9 >= 0] {
te.func @f(%A: tensor<10xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i] : tensor<10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  te.reorder %ii, %io
}
