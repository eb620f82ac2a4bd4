// RUN: opt-tool %s -p 'relay-dense-to-sparse{block-size=2,2 sparsity-threshold=0.7}' | filecheck %s

// CHECK:      %[[D:.*]] = relay.constant dense<{{\[\[\[}}1.0{{.*}}, 2.0{{.*}} : tensor<2x2x2xf32>
// CHECK-NEXT: %[[I:.*]] = relay.constant dense<[0, 3]> : tensor<2xi32>
// CHECK-NEXT: %[[P:.*]] = relay.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK-NEXT: %y = relay.nn.sparse_dense %x, %[[D]], %[[I]], %[[P]]
// CHECK-NOT:  tensor<4x8xf32>
func.func @main(%x: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %w = relay.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                             [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0]]> : tensor<4x8xf32>
  %y = relay.nn.dense %x, %w : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
