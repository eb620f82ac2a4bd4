// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// Conditions on indices as a value.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %inside = te.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    %s = arith.select %inside, %x, %n : f32
    te.yield %s : f32
  }
  te.return %y : tensor<8xf32>
}

// CHECK: %inside = te.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
// AFTER: %inside = tir.condition [%i - 1 >= 0, %i * -1 + 6 >= 0] : i1
// AFTER: %s = arith.select %inside, %x, %n : f32
