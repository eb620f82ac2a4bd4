// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.argsort %k {axis = 0, dtype = "int64"} : (tensor<8xi32>) -> tensor<8xi64>
// CHECK-NEXT: %s = relay.gather %k, %0 {axis = 0} : (tensor<8xi32>, tensor<8xi64>) -> tensor<8xi32>
// CHECK-NEXT: %y = relay.gather %x, %0 {axis = 0} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
// CHECK-NEXT: func.return %y : tensor<8xf32>
// CHECK-NOT:  stablehlo
func.func @main(%k: tensor<8xi32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %s, %y = "stablehlo.sort"(%k, %x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %u: tensor<f32>, %v: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<8xi32>, tensor<8xf32>) -> (tensor<8xi32>, tensor<8xf32>)
  return %y : tensor<8xf32>
}
