// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The initial tensor is computed at the front of the state; each time is computed in its place, stages between in
// buffers of the iteration.

// CHECK-LABEL: tir.func @cumulated(%X: memref<6x4xf32>, %s_out: memref<6x4xf32>)
te.func @cumulated(%X: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: tir.for %z = 0 to 1 "first.z" {
  // CHECK-NEXT:   tir.for %i = 0 to 4 "first.i" {
  // CHECK-NEXT:     tir.block "first" {
  // CHECK-NEXT:       %x = tir.load %X[0, %i] : memref<6x4xf32>
  // CHECK-NEXT:       tir.store %x, %s_out[%z, %i] : memref<6x4xf32>
  %first = te.compute "first" [1, 4] (%z, %i) : tensor<1x4xf32> {
    %x = te.read %X[0, %i] : tensor<6x4xf32>
    te.yield %x : f32
  }
  // CHECK:      tir.for %t = 0 to 5 "s.t" {
  // CHECK-NEXT:   %half = tir.alloc "half" scope "global" : memref<4xf32>
  // CHECK-NEXT:   tir.for %i = 0 to 4 "half.i" {
  // CHECK:            tir.load %X[%t + 1, %i] : memref<6x4xf32>
  // CHECK:        tir.for %i = 0 to 4 "next.i" {
  // CHECK-NEXT:     tir.block "next" {
  // CHECK-NEXT:       %before = tir.load %s_out[%t, %i] : memref<6x4xf32>
  // CHECK-NEXT:       %h = tir.load %half[%i] : memref<4xf32>
  // CHECK-NEXT:       %sum = arith.addf %before, %h : f32
  // CHECK-NEXT:       tir.store %sum, %s_out[%t + 1, %i] : memref<6x4xf32>
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x4xf32>) -> tensor<6x4xf32> {
    %half = te.compute "half" [4] (%i) : tensor<4xf32> {
      %x = te.read %X[%t, %i] : tensor<6x4xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [4] (%i) : tensor<4xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x4xf32>
      %h = te.read %half[%i] : tensor<4xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<4xf32>
  }
  te.return %s : tensor<6x4xf32>
}
