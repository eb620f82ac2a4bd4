// RUN: opt-tool %s -p relay-combine-parallel-batch-matmul{min-num-branches=2} | filecheck %s
// One batch of the shared operand meets several of the other; bytes with a sign meet those without.

// CHECK-LABEL: func.func @batches
// CHECK-NOT: relay.concatenate
// CHECK: func.return
func.func @batches(%x: tensor<1x8x8xf32>, %a: tensor<1x8x8xf32>, %b: tensor<3x8x8xf32>)
    -> (tensor<1x8x8xf32>, tensor<3x8x8xf32>) {
  %0 = relay.nn.batch_matmul %x, %a : tensor<1x8x8xf32>
  %1 = relay.nn.batch_matmul %x, %b : (tensor<1x8x8xf32>, tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  return %0, %1 : tensor<1x8x8xf32>, tensor<3x8x8xf32>
}

// CHECK-LABEL: func.func @dtypes
// CHECK-NOT: relay.concatenate
// CHECK: func.return
func.func @dtypes(%x: tensor<2x8x8xui8>, %a: tensor<2x8x8xi8>, %b: tensor<2x8x8xui8>)
    -> (tensor<2x8x8xi32>, tensor<2x8x8xi32>) {
  %0 = relay.nn.batch_matmul %x, %a {out_dtype = "int32"} : (tensor<2x8x8xui8>, tensor<2x8x8xi8>) -> tensor<2x8x8xi32>
  %1 = relay.nn.batch_matmul %x, %b {out_dtype = "int32"} : (tensor<2x8x8xui8>, tensor<2x8x8xui8>) -> tensor<2x8x8xi32>
  return %0, %1 : tensor<2x8x8xi32>, tensor<2x8x8xi32>
}

// CHECK-LABEL: func.func @one_batch
// CHECK: relay.concatenate
func.func @one_batch(%x: tensor<1x8x8xf32>, %a: tensor<3x8x8xf32>, %b: tensor<3x8x8xf32>)
    -> (tensor<3x8x8xf32>, tensor<3x8x8xf32>) {
  %0 = relay.nn.batch_matmul %x, %a : (tensor<1x8x8xf32>, tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  %1 = relay.nn.batch_matmul %x, %b : (tensor<1x8x8xf32>, tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  return %0, %1 : tensor<3x8x8xf32>, tensor<3x8x8xf32>
}
