// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.reinterpret %x {dtype = "uint32"} : (tensor<4xf32>) -> tensor<4xui32>
// CHECK-NEXT: func.return %y : tensor<4xui32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xui32> {
  %y = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
  return %y : tensor<4xui32>
}
