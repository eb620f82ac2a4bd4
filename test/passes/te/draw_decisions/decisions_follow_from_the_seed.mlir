// RUN: opt-tool %s -p te-draw-decisions | filecheck %s
// RUN: opt-tool %s -p te-draw-decisions,te-draw-decisions | filecheck %s
// RUN: opt-tool %s -p te-draw-decisions,te-to-tir | filecheck %s --check-prefix LOOPS
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix LOOPS
// A decision that is there stays.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %A[%i, %j] : tensor<8x32xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f attributes {seed = 7 : i64} {
  %i, %j = te.loops "C" [2]
  %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 8
  %jo, %ji = te.split %j [%f0, %f1]
  %v = te.sample_categorical [0, 16, 64] probs [0.25, 0.25, 0.5]
  %g0, %g1 = te.sample_perfect_tile %i [2] max_innermost 8 decision [2, 4]
}

// CHECK:      %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 8 decision [32, 1]
// CHECK:      te.sample_categorical [0, 16, 64] probs [0.25, 0.25, 0.5] decision 2
// CHECK-NEXT: te.sample_perfect_tile %i [2] max_innermost 8 decision [2, 4]
// LOOPS:      tir.for %jo = 0 to 32 "C.j.0" {
