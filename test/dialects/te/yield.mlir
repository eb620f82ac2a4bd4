// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// The element that an equation computes; of several results, one each.

te.func @f(%X: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a, %b = te.compute "both" [8] (%i) : tensor<8xf32>, tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %x, %n : f32, f32
  }
  te.return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK: te.yield %x, %n : f32, f32
// AFTER: tir.store %x, %a_out[%i] : memref<8xf32>
// AFTER: tir.store %n, %b_out[%i] : memref<8xf32>
