// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      func.func @main(%x: tensor<4xf32> {lamina.name = "params[0]"}) -> (tensor<4xf32> {lamina.name = "result.loss"}) {
// CHECK-NEXT: %0 = relay.negative %x : tensor<4xf32>
// CHECK-NEXT: func.return %0 : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32> loc("params[0]")) -> (tensor<4xf32> {jax.result_info = "result.loss"}) {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
