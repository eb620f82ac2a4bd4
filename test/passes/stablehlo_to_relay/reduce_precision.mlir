// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.cast %x {dtype = "bfloat16"} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %y = relay.cast %0 {dtype = "float32"} : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.reduce_precision %x, format = e8m7 : tensor<4xf32>
  return %y : tensor<4xf32>
}
