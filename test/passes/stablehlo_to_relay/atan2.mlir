// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.isnan
// CHECK: relay.isnan
// CHECK: relay.logical_or
// CHECK: relay.add
// CHECK: relay.reinterpret
// CHECK: relay.constant
// CHECK: relay.negative
// CHECK: relay.where
// CHECK: relay.where
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.atan2 %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
