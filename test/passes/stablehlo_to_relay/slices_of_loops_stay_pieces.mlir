// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s
// What a loop writes place by place is put together once, and what is read from there is the piece.

// CHECK:      %z = relay.concatenate %x, %y, %1 : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: func.return %z, %y : tensor<4x2xf32>, tensor<1x2xf32>
func.func @main(%x: tensor<1x2xf32>, %y: tensor<1x2xf32>) -> (tensor<4x2xf32>, tensor<1x2xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<4x2xf32>
  %w = stablehlo.dynamic_update_slice %zero, %x, %c0, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %z = stablehlo.dynamic_update_slice %w, %y, %c1, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %p = stablehlo.dynamic_slice %z, %c1, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  return %z, %p : tensor<4x2xf32>, tensor<1x2xf32>
}
