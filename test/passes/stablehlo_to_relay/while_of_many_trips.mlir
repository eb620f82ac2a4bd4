// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK: relay.constant
// CHECK: relay.fn
// CHECK: relay.constant
// CHECK: relay.less
// CHECK: relay.if
// CHECK: relay.constant
// CHECK: relay.yield
// CHECK: relay.return
// CHECK: relay.call
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r, %y = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<5000> : tensor<i32>
    %0 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %i, %1 : tensor<i32>
    %3 = stablehlo.add %v, %x : tensor<4xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
