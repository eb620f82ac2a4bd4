// RUN: opt-tool %s -p relay-lambda-lift | filecheck %s
// A kernel is not lifted, and what lifting makes of a closure is not lifted again.

// CHECK-NOT: @lifted
func.func @add(%y: tensor<8xf32>, %k: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %y, %k : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tuple<(tensor<8xf32>) -> tensor<8xf32>> {
  // CHECK: %kernel = relay.fn (%y: tensor<8xf32>)
  %kernel = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.exp %y : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  // CHECK: relay.call %kernel
  %a = relay.call %kernel(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %thin = relay.fn captures(%k = %a : tensor<8xf32>)
  %thin = relay.fn captures(%k = %a : tensor<8xf32>) (%z: tensor<8xf32>) -> tensor<8xf32> {
    %0 = func.call @add(%z, %k) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %t = relay.tuple(%thin) : tuple<(tensor<8xf32>) -> tensor<8xf32>>
  return %t : tuple<(tensor<8xf32>) -> tensor<8xf32>>
}
