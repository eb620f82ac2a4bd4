// RUN: opt-tool %s -p print-space 2>&1 >/dev/null | filecheck %s --check-prefix SPACE
// RUN: opt-tool %s -p "te-draw-decisions{index=0}" | filecheck %s --check-prefix FIRST
// RUN: opt-tool %s -p "te-draw-decisions{index=59}" | filecheck %s --check-prefix LAST
// RUN: opt-tool %s -p "te-draw-decisions{index=17}" | filecheck %s
// RUN: not opt-tool %s -p "te-draw-decisions{index=60}" 2>&1 | filecheck %s --check-prefix BEYOND
// RUN: not opt-tool %s -p "te-draw-decisions{index=1 seed=2}" 2>&1 | filecheck %s --check-prefix BOTH
// The first knob has the first digit: 17 is 2 + 5 * (1 + 2 * 1) where it may be decided in 5 ways, the second in 2.
// The order of three loops is the third digit. One without a knob stays as it is.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %A[%i, %j] : tensor<8x32xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 16 knob "tile_j" decision [2, 16]
  %jo, %ji = te.split %j [%f0, %f1]
  %v = te.sample_categorical [0, 16] knob "v" decision 0
  %g0, %g1 = te.sample_perfect_tile %i [2] max_innermost 16 decision [8, 1]
  %a, %b, %c = te.sample_order %i, %jo, %ji knob "order" decision [0, 1, 2]
}

// SPACE: @f: 60 configurations

// FIRST:      knob "tile_j" decision [32, 1]
// FIRST:      knob "v" decision 0
// FIRST:      knob "order" decision [0, 1, 2]

// LAST:       knob "tile_j" decision [2, 16]
// LAST:       knob "v" decision 1
// LAST:       knob "order" decision [2, 1, 0]

// CHECK:      knob "tile_j" decision [8, 4]
// CHECK:      knob "v" decision 1
// CHECK-NEXT: te.sample_perfect_tile %i [2] max_innermost 16 decision [8, 1]
// CHECK:      knob "order" decision [0, 2, 1]

// BEYOND: error: te-draw-decisions: @f has 60 configurations, and none of the number 60

// BOTH: error: te-draw-decisions: an index is at least 0, and there is no seed beside it
