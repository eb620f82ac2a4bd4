// RUN: opt-tool %s -p relay-batching-ops | filecheck %s

// CHECK:     relay.nn.batch_matmul {{.*}} -> tensor<3x2x4xf32>
// CHECK:     relay.nn.batch_matmul {{.*}} -> tensor<2x3x12xf32>
// CHECK-NOT: relay.nn.dense
func.func @main(%x: tensor<2x8xf32>, %a: tensor<4x8xf32>, %y: tensor<2x3x8xf32>, %b: tensor<2x4x8xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %3 = relay.nn.batch_matmul %y, %b : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
  %4 = relay.nn.batch_matmul %y, %b : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
  %5 = relay.nn.batch_matmul %y, %b : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
  return %0, %1, %2, %3, %4, %5
    : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
