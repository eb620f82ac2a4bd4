// RUN: opt-tool %s -p te-to-tir | filecheck %s
// What is left of a reduction without terms is its initial value.

te.func @f(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %y = te.compute "y" [3] prod [0] (%i, %k) : tensor<3xf32> {
    %v = te.read %x[%i, %k] : tensor<3x0xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<3xf32>
}

// CHECK:      tir.for %i = 0 to 3 "y.i" {
// CHECK-NEXT:   tir.block "y" {
// CHECK-NEXT:     %0 = arith.constant 1.0{{.*}} : f32
// CHECK-NEXT:     tir.store %0, %y_out[%i] : memref<3xf32>
