// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// An element; under a condition, zero where it fails.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i - 1] where [%i - 1 >= 0] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}

// CHECK: %x = te.read %X[%i - 1] where [%i - 1 >= 0] : tensor<8xf32>
// AFTER: %x = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
