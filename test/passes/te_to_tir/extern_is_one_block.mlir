// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The tir of an extern stands in a block of its name; its loops, stages and buffers are called after it.

// CHECK-LABEL: tir.func @f
te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      %e = tir.alloc "e" scope "global" : memref<8xf32>
  // CHECK-NEXT: tir.block "e" {
  // CHECK-NEXT:   %held = tir.alloc "e.held" scope "global" : memref<1xf32>
  // CHECK-NEXT:   tir.for %i = 0 to 8 "e.i" {
  // CHECK-NEXT:     %v = tir.load %X[%i] : memref<8xf32>
  // CHECK-NEXT:     tir.store %v, %held[0] : memref<1xf32>
  // CHECK:        tir.for %i = 0 to 8 "e.i_1" {
  %e = te.extern "e" (%x = %X) -> (%out) : (tensor<8xf32>) -> tensor<8xf32> {
    %held = tir.alloc "held" scope "global" : memref<1xf32>
    tir.for %i = 0 to 8 "i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %held[0] : memref<1xf32>
    }
    tir.for %i = 0 to 8 "i" {
      %v = tir.load %held[0] : memref<1xf32>
      tir.store %v, %out[%i] : memref<8xf32>
    }
  }
  // CHECK: tir.block "y" {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %v = te.read %e[%i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}
