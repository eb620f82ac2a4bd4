// RUN: opt-tool %s -p relay-batching-ops | filecheck %s

// CHECK-NOT: relay.nn.batch_matmul
// CHECK:     func.return
func.func @main(%x: tensor<2x8xf32>, %a: tensor<4x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}
