// RUN: opt-tool %s -p relay-combine-parallel-batch-matmul | filecheck %s
// Two multiply by the transpose, one does not, and one shares the second operand only.

// CHECK-NOT: relay.concatenate
// CHECK: func.return
func.func @main(%x: tensor<2x8x8xf32>, %a: tensor<2x8x8xf32>)
    -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %0 = relay.nn.batch_matmul %x, %a : tensor<2x8x8xf32>
  %1 = relay.nn.batch_matmul %x, %x : tensor<2x8x8xf32>
  %2 = relay.nn.batch_matmul %x, %a {transpose_b = false} : tensor<2x8x8xf32>
  %3 = relay.nn.batch_matmul %a, %a : tensor<2x8x8xf32>
  return %0, %1, %2, %3 : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
