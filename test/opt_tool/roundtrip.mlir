// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool | filecheck %s

// CHECK-LABEL: te.func @stencil
te.func @stencil(%X: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
  %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
    // CHECK-NEXT: %x = te.read %X[%i * 2 + %k] : tensor<8xf32>
    %x = te.read %X[%i * 2 + %k] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
// CHECK: func.func @loop
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.yield
  }
  return
}
