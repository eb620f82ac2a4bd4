// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.reinterpret
// CHECK: relay.constant
// CHECK: relay.right_shift
// CHECK: relay.bitwise_or
// CHECK: relay.constant
// CHECK: relay.right_shift
// CHECK: relay.cast
// CHECK: relay.constant
// CHECK: relay.subtract
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = stablehlo.count_leading_zeros %x : tensor<4xi32>
  return %y : tensor<4xi32>
}
