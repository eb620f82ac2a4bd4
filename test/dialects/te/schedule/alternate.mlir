// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A loop is walked back and forth, by the pass tir-alternate-direction.

te.func @f(%X: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = te.compute "y" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %x = te.read %X[%i, %j] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "y" [2]
  te.alternate %j
}
// CHECK:      tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:   tir.for %j = 0 to 8 "y.j" attributes {alternate} {
