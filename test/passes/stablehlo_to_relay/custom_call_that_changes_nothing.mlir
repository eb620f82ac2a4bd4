// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      func.return %x : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
