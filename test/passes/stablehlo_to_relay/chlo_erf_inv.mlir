// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.multiply
// CHECK: relay.negative
// CHECK: relay.log1p
// CHECK: relay.negative
// CHECK: relay.constant
// CHECK: relay.subtract
// CHECK: relay.constant
// CHECK: relay.equal
// CHECK: relay.where
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
