// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The decision counts the loops of the consumer from the outside; the results are the stage's loops.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %a = te.read %A[%i, %j] : tensor<8x32xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %b[%i, %j] : tensor<8x32xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %bi, %bj = te.sample_compute_location "B" in "C" [2] knob "B" decision 1
  te.vectorize %bj
}

// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:   %B = tir.alloc "B" scope "global" : memref<1x32xf32>
// CHECK-NEXT:   tir.for %i_1 = 0 to 1 "B.i" {
// CHECK-NEXT:     tir.for %j = 0 to 32 vectorized "B.j" {
