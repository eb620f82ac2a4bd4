// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The decision is a position in the list; none leaves the loop alone.

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
  te.sample_annotation %i ["none", "parallel"] knob "outer" decision 1
  te.sample_annotation %j ["none", "unroll", "vectorize"] knob "inner" decision 2
  %k, %l = te.loops "B" [2]
  te.sample_annotation %l ["none", "unroll", "vectorize"] decision 0
}

// CHECK:      tir.for %i = 0 to 8 "B.i" {
// CHECK-NEXT:   tir.for %j = 0 to 32 "B.j" {
// CHECK:      tir.for %i = 0 to 8 parallel "C.i" {
// CHECK-NEXT:   tir.for %j = 0 to 32 vectorized "C.j" {
