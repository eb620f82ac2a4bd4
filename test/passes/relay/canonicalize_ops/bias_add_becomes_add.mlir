// RUN: opt-tool %s -p relay-canonicalize-ops,relay-fold-constant | filecheck %s

// CHECK-LABEL: @inner
// CHECK-NEXT:  [[B:%.*]] = relay.constant dense<5.000000e-01> : tensor<8x1x1xf32>
// CHECK-NEXT:  %y = relay.add %x, [[B]] : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
func.func @inner(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %b = relay.constant dense<0.5> : tensor<8xf32>
  %y = relay.nn.bias_add %x, %b : (tensor<1x8x6x6xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: @last
// CHECK-NEXT:  %y = relay.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
func.func @last(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = relay.nn.bias_add %x, %b {axis = -1} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
