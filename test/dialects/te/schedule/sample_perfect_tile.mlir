// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The decision says what was drawn; factors that are known may stand beside sampled ones.

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
  %f0, %f1, %f2 = te.sample_perfect_tile %j [3] max_innermost 8 decision [2, 4, 4]
  %j0, %j1, %j2 = te.split %j [%f0, %f1, %f2]
  %g = te.sample_perfect_tile %i [1] max_innermost 8
  %i0, %i1 = te.split %i [-1, %g]
  te.reorder %i0, %i1, %j0, %j1, %j2
}

// CHECK:      tir.for %io = 0 to 1 "C.i.0" {
// CHECK-NEXT:   tir.for %ii = 0 to 8 "C.i.1" {
// CHECK-NEXT:     tir.for %j0 = 0 to 2 "C.j.0" {
// CHECK-NEXT:       tir.for %j1 = 0 to 4 "C.j.1" {
// CHECK-NEXT:         tir.for %j2 = 0 to 4 "C.j.2" {
