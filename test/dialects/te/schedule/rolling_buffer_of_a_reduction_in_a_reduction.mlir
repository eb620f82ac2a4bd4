// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks | filecheck %s
// B's sums begin in each iteration of C's reduction loop, though B outlives it.

te.func @f(%A: tensor<10x4xf32>) -> tensor<1xf32> {
  %b = te.compute "B" [10] sum [4] (%i, %k) : tensor<10xf32> {
    %a = te.read %A[%i, %k] : tensor<10x4xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [1] sum [8, 3] (%i, %r, %w) : tensor<1xf32> {
    %x = te.read %b[%r + %w] : tensor<10xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<1xf32>
}
te.schedule @f {
  %i, %r, %w = te.loops "C" [3]
  %y, %k = te.compute_at "B" at %r [2]
  te.rolling_buffer "B" at %r
}
// CHECK:      tir.for %r = 0 to 8 reduction "C.r" {
// CHECK-NEXT:   tir.for %i_1 = 0 to 1 "B.i" {
// CHECK-NEXT:     %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     tir.store %1, %B[(%i_1 + %r + 2) mod 3] : memref<3xf32>
// CHECK-NEXT:     tir.for %k = 0 to 4 reduction "B.k" {
