// RUN: opt-tool %s -p te-to-tir | filecheck %s

// Splits, fuses and orders of a stage are gone with its loops.

// CHECK-NOT:  "B
// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:   tir.for %j = 0 to 10 "C.j" {
// CHECK-NEXT:     tir.block "C" {
// CHECK-NEXT:       %a = tir.load %A[%j, %i] : memref<10x8xf32>
te.func @f(%A: tensor<10x8xf32>) -> tensor<8x10xf32> {
  %b = te.compute "B" [10, 8] (%i, %j) : tensor<10x8xf32> {
    %a = te.read %A[%i, %j] : tensor<10x8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 10] (%i, %j) : tensor<8x10xf32> {
    %x = te.read %b[%j, %i] : tensor<10x8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x10xf32>
}
te.schedule @f {
  %i, %j = te.loops "B" [2]
  %io, %ii = te.split %i [-1, 4]
  te.reorder %j, %io, %ii
  %g = te.fuse %j, %io
  te.compute_inline "B"
}
