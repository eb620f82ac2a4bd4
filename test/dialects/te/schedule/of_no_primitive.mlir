// RUN: opt-tool %s --verify-roundtrip -p te-to-tir | filecheck %s
// A schedule may be empty: the loops stay as they are.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
te.schedule @f {
}
// CHECK:      tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:   tir.block "y" {
