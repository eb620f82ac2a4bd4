// RUN: opt-tool %s -p print-space -o %t 2>&1 | filecheck %s --strict-whitespace
// RUN: filecheck %s --input-file %t --check-prefix STAYS
// What is decided and has no knob is no part of the space; neither is the piece that is not taken.

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
  %u, %v = te.sample_order %i, %jo knob "order" decision [0, 1]
  te.sample_annotation %ji ["none", "unroll", "vectorize"]
  %w = te.sample_categorical [0, 16] probs [0.5, 0.5] decision 1
  te.choose knob "outer" decision 1 {
    te.sample_annotation %u ["none", "parallel"] knob "not asked"
  } {
  }
}
// CHECK:      @f: 60 configurations
// CHECK-NEXT:   tile_j  te.sample_perfect_tile  5  [2, 16]
// CHECK-NEXT:   order   te.sample_order         2  [0, 1]
// CHECK-NEXT:           te.sample_annotation    3  {{[0-2]}}
// CHECK-NEXT:   outer   te.choose               2  1
// CHECK-NOT:  {{.}}
// STAYS:      te.sample_annotation %ji ["none", "unroll", "vectorize"]{{$}}
