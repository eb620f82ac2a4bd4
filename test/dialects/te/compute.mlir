// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Computes, reads with guards, indices and conditions print as they are written.

// CHECK-LABEL: te.func @f(%X: tensor<8xf32>) -> tensor<4xf32> {
te.func @f(%X: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
  %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
    // CHECK-NEXT: %x = te.read %X[%i * 2 + %k - 1] where [%i * 2 + %k - 1 >= 0, %k == 0] : tensor<8xf32>
    %x = te.read %X[%i * 2 + %k - 1] where [%i * 2 + %k >= 1, %k == 0] : tensor<8xf32>
    // CHECK-NEXT: %n = te.index [(%i + %k) floordiv 2 + %i mod 3] : index
    %n = te.index [(%i + %k) floordiv 2 + %i mod 3] : index
    // CHECK-NEXT: %c = te.condition [%i + %k * -1 - 1 >= 0] : i1
    %c = te.condition [%i > %k] : i1
    %w = arith.index_cast %n : index to i32
    %v = arith.sitofp %w : i32 to f32
    %s = arith.select %c, %x, %v : f32
    te.yield %s : f32
  }
  te.return %y : tensor<4xf32>
}
