// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A stage of a scan's body moves within the time loop, which is none of its own loops.

te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %half = te.compute "half" [8] (%i) : tensor<8xf32> {
      %x = te.read %X[%t, %i] : tensor<6x8xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %half[%i] : tensor<8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
// CHECK:      tir.for %t = 0 to 5 "s.t" {
// CHECK-NEXT:   tir.for %io = 0 to 2 "next.i.0" {
// CHECK-NEXT:     %half = tir.alloc "half" scope "global" : memref<4xf32>
// CHECK-NEXT:     tir.for %i = 0 to 4 "half.i" {
// CHECK:              tir.load %X[%t + 1, %io * 4 + %i] : memref<6x8xf32>
// CHECK:          tir.for %ii = 0 to 4 vectorized "next.i.1" {
te.schedule @f {
  %t, %i = te.loops "next" [2]
  %io, %ii = te.split %i [-1, 4]
  %j = te.compute_at "half" at %io [1]
  te.vectorize %ii
}
