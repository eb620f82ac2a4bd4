// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// The tensors that a kernel gives: one of its own becomes an output, one that it was given is copied.

te.func @f(%X: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %y, %X : tensor<8xf32>, tensor<8xf32>
}

// CHECK: te.return %y, %X : tensor<8xf32>, tensor<8xf32>
// AFTER: tir.func @f(%X: memref<8xf32>, %y_out: memref<8xf32>, %{{[0-9]+}}: memref<8xf32>) attributes {outputs = 2 : i64}
// AFTER: tir.store %n, %y_out[%i] : memref<8xf32>
// AFTER: tir.for %i0 = 0 to 8 "copy.i0"
// AFTER: %{{[0-9]+}} = tir.load %X[%i0] : memref<8xf32>
// AFTER: tir.store %{{[0-9]+}}, %{{[0-9]+}}[%i0] : memref<8xf32>
