// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | opt-tool | filecheck %s --check-prefix TIR
// Text that is not ASCII is text: it is printed with escapes, and read back from them.

// CHECK: te.compute "\C3\A9" [8] (%i)
// TIR:   tir.block "\C3\A9" {
te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "é" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %b : tensor<8xf32>
}
te.schedule @f {
  // CHECK: te.loops "\C3\A9" [1]
  %i = te.loops "\C3\A9" [1]
}
