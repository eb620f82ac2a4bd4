// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// An index as a value.

te.func @f() -> tensor<8xi32> {
  %y = te.compute "y" [8] (%i) : tensor<8xi32> {
    %n = te.index [%i * 3 + 1] : index
    %v = arith.index_cast %n : index to i32
    te.yield %v : i32
  }
  te.return %y : tensor<8xi32>
}

// CHECK: %n = te.index [%i * 3 + 1] : index
// AFTER: %n = tir.index [%i * 3 + 1] : index
