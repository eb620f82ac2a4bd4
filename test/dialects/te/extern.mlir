// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Externs of several results and of unknown extents print as they are written.

// CHECK-LABEL: te.func @f
te.func @f(%X: tensor<8xf32>, %Y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %a, %b = te.extern "both" (%x = %X, %y = %Y) -> (%p, %q) :
  // CHECK-SAME: (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a, %b = te.extern "both" (%x = %X, %y = %Y) -> (%p, %q) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    // CHECK-NEXT: tir.for %i = 0 to 8 "i" {
    tir.for %i = 0 to 8 "i" {
      // CHECK-NEXT: %v = tir.load %x[%i] : memref<8xf32>
      %v = tir.load %x[%i] : memref<8xf32>
      %w = tir.load %y[%i * -1 + 7] : memref<8xf32>
      tir.store %v, %q[%i] : memref<8xf32>
      tir.store %w, %p[%i] : memref<8xf32>
    }
  }
  te.return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: te.func @of_a_size
te.func @of_a_size(%n: index) -> tensor<?x2xf32> {
  // CHECK-NEXT: %a = te.extern "ones" () -> (%p [%n * 3, 2]) : () -> tensor<?x2xf32> {
  %a = te.extern "ones" () -> (%p [%n * 3, 2]) : () -> tensor<?x2xf32> {
    tir.for %i = 0 to min [%n * 3] "i" {
      tir.for %j = 0 to 2 "j" {
        %one = arith.constant 1.0 : f32
        tir.store %one, %p[%i, %j] : memref<?x2xf32>
      }
    }
  }
  te.return %a : tensor<?x2xf32>
}
