// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_batch_matmul(%0: tensor<3x3x4xi8>, %1: tensor<1x4x5xui8>, %2: tensor<i32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<f32>) -> tensor<3x3x5xi32> {
  %6 = relay.qnn.batch_matmul %0, %1, %2, %3, %4, %5 {transpose_b = false} : (tensor<3x3x4xi8>, tensor<1x4x5xui8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x3x5xi32>
  func.return %6 : tensor<3x3x5xi32>
}
// CHECK:      te.func @fused_qnn_batch_matmul(%p0: tensor<3x3x4xi8>, %p1: tensor<1x4x5xui8>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<f32>) -> tensor<3x3x5xi32> {
// CHECK:      %cast = te.compute "cast" [3, 3, 4] (%i0, %i1, %i2) : tensor<3x3x4xi32> attributes {tag = "qnn.batch_matmul"} {
// CHECK:      %subtract = te.compute "subtract" [3, 3, 4] (%i0, %i1, %i2) : tensor<3x3x4xi32> attributes {tag = "qnn.batch_matmul"} {
// CHECK:      %cast_1 = te.compute "cast_1" [1, 4, 5] (%i0, %i1, %i2) : tensor<1x4x5xi32> attributes {tag = "qnn.batch_matmul"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [1, 4, 5] (%i0, %i1, %i2) : tensor<1x4x5xi32> attributes {tag = "qnn.batch_matmul"} {
// CHECK:      %batch_matmul = te.compute "batch_matmul" [3, 3, 5] sum [4] (%p, %m, %n, %k) : tensor<3x3x5xi32> attributes {tag = "qnn.batch_matmul"} {
// CHECK:      te.return %batch_matmul : tensor<3x3x5xi32>

func.func @qnn_contrib_dense_pack(%0: tensor<3xi8>, %1: tensor<1x3x4xi8>, %2: tensor<i32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<f32>) -> tensor<1xi32> {
  %6 = relay.qnn.contrib_dense_pack %0, %1, %2, %3, %4, %5 {units = 1, weight_layout = "NK4n"} : (tensor<3xi8>, tensor<1x3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1xi32>
  func.return %6 : tensor<1xi32>
}
// CHECK:      te.func @fused_qnn_contrib_dense_pack(%p0: tensor<3xi8>, %p1: tensor<1x3x4xi8>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<f32>) -> tensor<1xi32> {
// CHECK:      %cast = te.compute "cast" [3] (%i0) : tensor<3xi32> attributes {tag = "qnn.contrib_dense_pack"} {
// CHECK:      %subtract = te.compute "subtract" [3] (%i0) : tensor<3xi32> attributes {tag = "qnn.contrib_dense_pack"} {
// CHECK:      %cast_1 = te.compute "cast_1" [1, 3, 4] (%i0, %i1, %i2) : tensor<1x3x4xi32> attributes {tag = "qnn.contrib_dense_pack"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [1, 3, 4] (%i0, %i1, %i2) : tensor<1x3x4xi32> attributes {tag = "qnn.contrib_dense_pack"} {
// CHECK:      %dense = te.compute "dense" [1] sum [3] (%i0, %k) : tensor<1xi32> attributes {tag = "qnn.contrib_dense_pack"} {
// CHECK:      te.return %dense : tensor<1xi32>

func.func @qnn_dense(%0: tensor<3xui8>, %1: tensor<2x3xui8>, %2: tensor<i32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<f32>) -> tensor<2xi32> {
  %6 = relay.qnn.dense %0, %1, %2, %3, %4, %5 : (tensor<3xui8>, tensor<2x3xui8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2xi32>
  func.return %6 : tensor<2xi32>
}
// CHECK:      te.func @fused_qnn_dense(%p0: tensor<3xui8>, %p1: tensor<2x3xui8>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<f32>) -> tensor<2xi32> {
// CHECK:      %cast = te.compute "cast" [3] (%i0) : tensor<3xi32> attributes {tag = "qnn.dense"} {
// CHECK:      %subtract = te.compute "subtract" [3] (%i0) : tensor<3xi32> attributes {tag = "qnn.dense"} {
// CHECK:      %cast_1 = te.compute "cast_1" [2, 3] (%i0, %i1) : tensor<2x3xi32> attributes {tag = "qnn.dense"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [2, 3] (%i0, %i1) : tensor<2x3xi32> attributes {tag = "qnn.dense"} {
// CHECK:      %dense = te.compute "dense" [2] sum [3] (%i0, %k) : tensor<2xi32> attributes {tag = "qnn.dense"} {
// CHECK:      te.return %dense : tensor<2xi32>
