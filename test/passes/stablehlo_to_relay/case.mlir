// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.constant
// CHECK: relay.equal
// CHECK: relay.constant
// CHECK: relay.subtract
// CHECK: relay.constant
// CHECK: relay.less
// CHECK: relay.sin
// CHECK: relay.where
// CHECK: relay.yield
// CHECK-NOT:  stablehlo
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.case"(%n) ({
    %0 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %0 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
