// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_batch_matmul(%0: tensor<3x3x4xf32>, %1: tensor<1x4x5xf32>) -> tensor<3x3x5xf32> {
  %2 = relay.nn.batch_matmul %0, %1 {transpose_b = false} : (tensor<3x3x4xf32>, tensor<1x4x5xf32>) -> tensor<3x3x5xf32>
  func.return %2 : tensor<3x3x5xf32>
}
// CHECK:      te.func @fused_nn_batch_matmul(%p0: tensor<3x3x4xf32>, %p1: tensor<1x4x5xf32>) -> tensor<3x3x5xf32> {
// CHECK-NEXT: %batch_matmul = te.compute "batch_matmul" [3, 3, 5] sum [4] (%p, %m, %n, %k) : tensor<3x3x5xf32> attributes {tag = "nn.batch_matmul"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%p, %m, %k] : tensor<3x3x4xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[0, %k, %n] : tensor<1x4x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %batch_matmul : tensor<3x3x5xf32>

func.func @nn_bias_add(%0: tensor<3xf32>, %1: tensor<3xf32>) -> tensor<3xf32> {
  %2 = relay.nn.bias_add %0, %1 {axis = 0} : tensor<3xf32>
  func.return %2 : tensor<3xf32>
}
// CHECK:      te.func @fused_nn_bias_add(%p0: tensor<3xf32>, %p1: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT: %bias_add = te.compute "bias_add" [3] (%i0) : tensor<3xf32> attributes {tag = "nn.bias_add"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.addf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %bias_add : tensor<3xf32>

func.func @nn_contrib_dense_pack(%0: tensor<3xf32>, %1: tensor<1x3x4xf32>) -> tensor<1xf32> {
  %2 = relay.nn.contrib_dense_pack %0, %1 {units = 1, weight_layout = "NK4n"} : (tensor<3xf32>, tensor<1x3x4xf32>) -> tensor<1xf32>
  func.return %2 : tensor<1xf32>
}
// CHECK:      te.func @fused_nn_contrib_dense_pack(%p0: tensor<3xf32>, %p1: tensor<1x3x4xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %dense = te.compute "dense" [1] sum [3] (%i0, %k) : tensor<1xf32> attributes {tag = "nn.contrib_dense_pack"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[0, %k, %i0] : tensor<1x3x4xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %dense : tensor<1xf32>

func.func @nn_dense(%0: tensor<3xf32>, %1: tensor<2x3xf32>) -> tensor<2xf32> {
  %2 = relay.nn.dense %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
// CHECK:      te.func @fused_nn_dense(%p0: tensor<3xf32>, %p1: tensor<2x3xf32>) -> tensor<2xf32> {
// CHECK-NEXT: %dense = te.compute "dense" [2] sum [3] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.dense"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0, %k] : tensor<2x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %dense : tensor<2xf32>

func.func @nn_matmul(%0: tensor<2x3xf32>, %1: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %2 = relay.nn.matmul %0, %1 : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  func.return %2 : tensor<2x5xf32>
}
// CHECK:      te.func @fused_nn_matmul(%p0: tensor<2x3xf32>, %p1: tensor<3x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT: %matmul = te.compute "matmul" [2, 5] sum [3] (%m, %n, %k) : tensor<2x5xf32> attributes {tag = "nn.matmul"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%m, %k] : tensor<2x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%k, %n] : tensor<3x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %matmul : tensor<2x5xf32>
