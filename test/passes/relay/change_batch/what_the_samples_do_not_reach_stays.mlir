// RUN: opt-tool %s -p 'relay-change-batch{data=x batch-size=3}' | filecheck %s

// CHECK:      func.func @main(%x: tensor<3x4xf32>, %y: tensor<2x4xf32>)
// CHECK-NEXT:   %0 = relay.exp %y : tensor<2x4xf32>
// CHECK-NEXT:   %1 = relay.shape_of %x
func.func @main(%x: tensor<1x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2xi32>) {
  %0 = relay.exp %y : tensor<2x4xf32>
  %1 = relay.shape_of %x : (tensor<1x4xf32>) -> tensor<2xi32>
  return %0, %1 : tensor<2x4xf32>, tensor<2xi32>
}
