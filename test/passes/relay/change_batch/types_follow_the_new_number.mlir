// RUN: opt-tool %s -p 'relay-change-batch{batch-size=16}' | filecheck %s
// RUN: opt-tool %s -p 'relay-change-batch{function=other batch-size=7}' | filecheck %s --check-prefix OTHER
// RUN: opt-tool %s -p 'relay-change-batch{data=x:0,y:1 batch-size=5}' | filecheck %s --check-prefix BOTH

// CHECK:      func.func @main(%x: tensor<16x3x8x8xf32>, %y: tensor<2x4xf32>) -> (tensor<16x192xf32>, tensor<2x4xf32>)
// CHECK-NEXT:   %0 = relay.nn.relu %x : tensor<16x3x8x8xf32>
// CHECK-NEXT:   %1 = relay.nn.batch_flatten %0 : (tensor<16x3x8x8xf32>) -> tensor<16x192xf32>
// BOTH:      func.func @main(%x: tensor<5x3x8x8xf32>, %y: tensor<2x5xf32>) -> (tensor<5x192xf32>, tensor<2x5xf32>)
func.func @main(%x: tensor<1x3x8x8xf32>, %y: tensor<2x4xf32>) -> (tensor<1x192xf32>, tensor<2x4xf32>) {
  %0 = relay.nn.relu %x : tensor<1x3x8x8xf32>
  %1 = relay.nn.batch_flatten %0 : (tensor<1x3x8x8xf32>) -> tensor<1x192xf32>
  %2 = relay.exp %y : tensor<2x4xf32>
  return %1, %2 : tensor<1x192xf32>, tensor<2x4xf32>
}

// OTHER-LABEL: func.func @main(%x: tensor<1x3x8x8xf32>, %y: tensor<2x4xf32>)
// OTHER-LABEL: func.func @other(%x: tensor<7x4xf32>) -> tensor<7x4xf32>
func.func @other(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = relay.nn.relu %x : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
