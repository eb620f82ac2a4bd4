// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.abs
// CHECK: relay.constant
// CHECK: relay.less
// CHECK: relay.constant
// CHECK: relay.multiply
// CHECK: relay.tanh
// CHECK: relay.constant
// CHECK: relay.subtract
// CHECK: relay.where
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.exponential_minus_one %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
