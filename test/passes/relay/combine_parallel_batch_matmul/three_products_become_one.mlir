// RUN: opt-tool %s -p relay-combine-parallel-batch-matmul | filecheck %s
// The common scalar is given once.

// CHECK:      [[W:%.*]] = relay.concatenate %a, %b, %a {axis = 1} : {{.*}} -> tensor<2x13x8xf32>
// CHECK-NEXT: [[Y:%.*]] = relay.nn.batch_matmul %x, [[W]] : {{.*}} -> tensor<2x3x13xf32>
// CHECK-NEXT: [[Z:%.*]] = relay.multiply %s, [[Y]] : (tensor<f32>, tensor<2x3x13xf32>) -> tensor<2x3x13xf32>
// CHECK-NEXT: %u = relay.strided_slice [[Z]] {axes = [2], begin = [0], end = [4], strides = [1]}
// CHECK-NEXT: %v = relay.strided_slice [[Z]] {axes = [2], begin = [4], end = [9], strides = [1]}
func.func @main(%x: tensor<2x3x8xf32>, %a: tensor<2x4x8xf32>, %b: tensor<2x5x8xf32>, %s: tensor<f32>)
    -> (tensor<2x3x4xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>) {
  %0 = relay.nn.batch_matmul %x, %a : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
  %1 = relay.nn.batch_matmul %x, %b : (tensor<2x3x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x5xf32>
  %2 = relay.nn.batch_matmul %x, %a : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
  %u = relay.multiply %s, %0 : (tensor<f32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %v = relay.multiply %s, %1 : (tensor<f32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %t = relay.multiply %s, %2 : (tensor<f32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %u, %v, %t : tensor<2x3x4xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>
}
