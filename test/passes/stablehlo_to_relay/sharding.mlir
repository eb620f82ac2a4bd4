// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      func.return %x : tensor<4xf32>
// CHECK-NOT:  stablehlo
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
  return %y : tensor<4xf32>
}
