// RUN: opt-tool %s -p te-to-tir | filecheck %s

// What has been done to the loops of the stage is undone: it is a box of elements that moves.

// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:   %B = tir.alloc "B" scope "global" : memref<2xf32>
// CHECK-NEXT:   tir.for %i_1 = 0 to 2 "B.i" {
// CHECK-NEXT:     tir.block "B" {
// CHECK-NEXT:       %a = tir.load %A[%i + %i_1] : memref<9xf32>

te.func @f(%A: tensor<9xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [9] (%i) : tensor<9xf32> {
    %a = te.read %A[%i] : tensor<9xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<9xf32>
    %y = te.read %b[%i + 1] : tensor<9xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %b = te.loops "B" [1]
  %bo, %bi = te.split %b [3, 3]
  %i = te.loops "C" [1]
  %t = te.compute_at "B" at %i [1]
}
