// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The copy of a tile with a tail ends after whole vectors: the loop over vectors is bounded, and none of them has a tail.

te.func @f(%A: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %c = te.compute "C" [7, 8] (%i, %j) : tensor<7x8xf32> {
    %a = te.read %A[%i, %j] : tensor<7x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<7x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %io, %ii = te.split %i [-1, 4]
  %t = te.cache_read "A" in "C" at %io scope "local" [1]
  %to, %ti = te.split %t [-1, 8]
  te.vectorize %ti
}
// CHECK:      tir.for %A0_A1o = 0 to 4 min [%io * -4 + 7] "A.local.0+A.local.1.0" {
// CHECK-NEXT:   tir.for %A0_A1i = 0 to 8 vectorized "A.local.0+A.local.1.1" {
// CHECK-NEXT:     tir.block "A.local" {
// CHECK-NEXT:       %{{.*}} = tir.load %A[%io * 4 + %A0_A1o, %A0_A1i] : memref<7x8xf32>
