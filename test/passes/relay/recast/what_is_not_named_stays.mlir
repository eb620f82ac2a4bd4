// RUN: opt-tool %s -p relay-recast | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %y = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<4x8xf32>, %w: tensor<5x8xf32>) -> tensor<4x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
