// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// Integers, an unused parameter and what is behind a rounding have zeros; no gradient is taken through them, and
// other functions stay as they are.

// CHECK:      func.func @main(%x: tensor<3xf32>, %unused: tensor<2xf32>, %n: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xf32>, tensor<3xi32>)
// CHECK-NEXT:   %0 = relay.floor %x
// CHECK-NEXT:   %1 = relay.add %n, %n
// CHECK-NEXT:   relay.constant dense<0.000000e+00>
// CHECK-NEXT:   %grad_x = relay.full {{.*}} {shape = [3]}
// CHECK-NEXT:   relay.constant dense<0.000000e+00>
// CHECK-NEXT:   %grad_unused = relay.full {{.*}} {shape = [2]}
// CHECK-NEXT:   %grad_n = relay.zeros_like %n
// CHECK-NEXT:   func.return %0, %1, %grad_x, %grad_unused, %grad_n
// CHECK:      func.func @other(%x: tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>, %unused: tensor<2xf32>, %n: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0 = relay.floor %x : tensor<3xf32>
  %1 = relay.add %n, %n : tensor<3xi32>
  return %0, %1 : tensor<3xf32>, tensor<3xi32>
}
func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.exp %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
