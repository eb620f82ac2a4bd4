// RUN: opt-tool %s -p "te-draw-decisions{seed=4}" | filecheck %s
// RUN: opt-tool %s -p "te-draw-decisions{seed=4},te-draw-decisions{seed=4}" | filecheck %s
// RUN: opt-tool %s -p te-draw-decisions | filecheck %s --check-prefix DEFAULT
// The decision of a knob is a default; one without a knob stays. What no piece asks for is left open.

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
  %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 16 knob "tile_j" decision [2, 16]
  %jo, %ji = te.split %j [%f0, %f1]
  %g0, %g1 = te.sample_perfect_tile %i [2] max_innermost 16 decision [8, 1]
  te.choose knob "outer" decision 0 {
    te.sample_annotation %i ["none", "parallel"] knob "i"
  } {
    te.sample_annotation %jo ["none", "parallel"] knob "jo"
  }
}
// CHECK:      te.sample_perfect_tile %j [2] max_innermost 16 knob "tile_j" decision [8, 4]
// CHECK:      te.sample_perfect_tile %i [2] max_innermost 16 decision [8, 1]
// CHECK-NEXT: te.choose knob "outer" decision 1 {
// CHECK-NEXT:   te.sample_annotation %i ["none", "parallel"] knob "i"{{$}}
// CHECK-NEXT: } {
// CHECK-NEXT:   te.sample_annotation %jo ["none", "parallel"] knob "jo" decision 0

// DEFAULT:      knob "tile_j" decision [2, 16]
// DEFAULT:      te.choose knob "outer" decision 0 {
// DEFAULT-NEXT:   te.sample_annotation %i ["none", "parallel"] knob "i" decision
