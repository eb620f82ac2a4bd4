// RUN: opt-tool %s -p te-to-tir | filecheck %s
// What was one block is inlined, and no empty block is left.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  te.blockize %i "B_o"
  te.compute_inline "B"
}
// CHECK:      tir.func @f
// CHECK-NEXT:   tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:     tir.block "C" {
