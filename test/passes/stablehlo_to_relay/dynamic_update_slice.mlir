// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.cast
// CHECK: relay.constant
// CHECK: relay.maximum
// CHECK: relay.constant
// CHECK: relay.minimum
// CHECK: relay.constant
// CHECK: relay.minimum
// CHECK: relay.take
// CHECK: relay.where
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %y = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
