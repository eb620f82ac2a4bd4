// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>)
// CHECK-NEXT: %z = relay.add %x, %y : tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %m = stablehlo.maximum %low, %x : tensor<4xf32>
  %z = stablehlo.add %m, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
