// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.if %c -> tensor<4x4xf32> {
// CHECK-NEXT: %0 = relay.nn.matmul %x, %x {out_dtype = "float32"} : tensor<4x4xf32>
// CHECK-NEXT: relay.yield %0 : tensor<4x4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: relay.yield %x : tensor<4x4xf32>
// CHECK:      func.return %y : tensor<4x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%c: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = "stablehlo.if"(%c) ({
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %0 : tensor<4x4xf32>
  }, {
    stablehlo.return %x : tensor<4x4xf32>
  }) : (tensor<i1>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
