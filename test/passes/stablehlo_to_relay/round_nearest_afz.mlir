// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.isinf
// CHECK: relay.sign
// CHECK: relay.abs
// CHECK: relay.abs
// CHECK: relay.floor
// CHECK: relay.subtract
// CHECK: relay.where
// CHECK: relay.multiply
// CHECK: relay.where
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.round_nearest_afz %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
