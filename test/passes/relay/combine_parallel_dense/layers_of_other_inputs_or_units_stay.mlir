// RUN: opt-tool %s -p relay-combine-parallel-dense | filecheck %s
// A batch needs as many units everywhere; the layers of %y are but two.

// CHECK-NOT: relay.stack
// CHECK-NOT: relay.nn.batch_matmul
// CHECK: func.return
func.func @main(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %a: tensor<4x8xf32>, %b: tensor<5x8xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = relay.nn.dense %x, %b : (tensor<2x8xf32>, tensor<5x8xf32>) -> tensor<2x5xf32>
  %3 = relay.nn.dense %y, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %4 = relay.nn.dense %y, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
