// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reinterpret %x {dtype = "uint32"} : (tensor<4xi32>) -> tensor<4xui32>
// CHECK-NEXT: %1 = relay.reinterpret %y {dtype = "uint32"} : (tensor<4xi32>) -> tensor<4xui32>
// CHECK-NEXT: %2 = relay.right_shift %0, %1 : tensor<4xui32>
// CHECK-NEXT: %3 = relay.constant dense<32> : tensor<ui32>
// CHECK-NEXT: %4 = relay.less %1, %3 : (tensor<4xui32>, tensor<ui32>) -> tensor<4xi1>
// CHECK-NEXT: %5 = relay.constant dense<0> : tensor<ui32>
// CHECK-NEXT: %6 = relay.where %4, %2, %5 : (tensor<4xi1>, tensor<4xui32>, tensor<ui32>) -> tensor<4xui32>
// CHECK-NEXT: %z = relay.reinterpret %6 {dtype = "int32"} : (tensor<4xui32>) -> tensor<4xi32>
// CHECK-NEXT: func.return %z : tensor<4xi32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  return %z : tensor<4xi32>
}
