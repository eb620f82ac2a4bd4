// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// A weight by its key; the bytes are beside the module.

te.func @neg(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %y : tensor<8xf32>
}
func.func @main() -> tensor<8xf32> {
  %w = te.param #relay.param<"w", "00"> : tensor<8xf32>
  %a = te.call @neg(%w) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %a : tensor<8xf32>
}

// CHECK: %w = te.param #relay.param<"w", "00"> : tensor<8xf32>
// AFTER: %w = tir.param #relay.param<"w", "00"> : memref<8xf32>
// AFTER: tir.call @neg(%w, %{{[0-9]+}}) : memref<8xf32>, memref<8xf32>
