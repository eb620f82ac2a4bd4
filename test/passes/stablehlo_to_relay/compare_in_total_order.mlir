// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.reinterpret
// CHECK: relay.constant
// CHECK: relay.less
// CHECK: relay.constant
// CHECK: relay.bitwise_xor
// CHECK: relay.where
// CHECK: relay.bitwise_xor
// CHECK: relay.where
// CHECK: relay.less
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %z = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %z : tensor<4xi1>
}
