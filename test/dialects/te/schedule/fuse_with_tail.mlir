// RUN: opt-tool %s -p te-to-tir | filecheck %s

// The fused loop cannot stop in the middle of a tile: what the tail leaves out is the block's predicate.

// CHECK:      tir.for %io_ii = 0 to 12 "C.i.0+C.i.1" {
// CHECK-NEXT:   tir.block "C" where [%io_ii * -1 + 9 >= 0] {
// CHECK-NEXT:     %a = tir.load %A[%io_ii] : memref<10xf32>
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
  %g = te.fuse %io, %ii
}
