// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// Handles on the loops of a stage, for the primitives below.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = te.compute "C" [8, 16] (%i, %j) : tensor<8x16xf32> {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8x16xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.reorder %j, %i
}

// CHECK: %i, %j = te.loops "C" [2]
// AFTER: tir.for %j = 0 to 16 "C.j"
// AFTER: tir.for %i = 0 to 8 "C.i"
