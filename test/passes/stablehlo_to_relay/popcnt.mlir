// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.reinterpret
// CHECK: relay.constant
// CHECK: relay.constant
// CHECK: relay.right_shift
// CHECK: relay.bitwise_and
// CHECK: relay.bitwise_and
// CHECK: relay.bitwise_and
// CHECK: relay.add
// CHECK: relay.reinterpret
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = stablehlo.popcnt %x : tensor<4xi32>
  return %y : tensor<4xi32>
}
