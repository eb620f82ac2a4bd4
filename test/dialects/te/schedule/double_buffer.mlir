// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The pass tir-inject-double-buffer makes the two halves.

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
  %bi, %bj = te.compute_at "B" at %i [2]
  te.double_buffer "B"
}

// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:   %B = tir.alloc "B" scope "global" {double_buffer} : memref<1x32xf32>
