// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_conv2d_transpose(%0: tensor<2x4x3x3xui8>, %1: tensor<4x3x3x2xi8>, %2: tensor<i32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<f32>) -> tensor<2x6x7x4xi32> {
  %6 = relay.qnn.conv2d_transpose %0, %1, %2, %3, %4, %5 {groups = 2, strides = [2, 1]} : (tensor<2x4x3x3xui8>, tensor<4x3x3x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x6x7x4xi32>
  func.return %6 : tensor<2x6x7x4xi32>
}
// CHECK:      te.func @fused_qnn_conv2d_transpose(%p0: tensor<2x4x3x3xui8>, %p1: tensor<4x3x3x2xi8>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<f32>) -> tensor<2x6x7x4xi32> {
// CHECK:      %cast = te.compute "cast" [2, 4, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x4x3x3xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %subtract = te.compute "subtract" [2, 4, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x4x3x3xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %cast_1 = te.compute "cast_1" [4, 3, 3, 2] (%i0, %i1, %i2, %i3) : tensor<4x3x3x2xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [4, 3, 3, 2] (%i0, %i1, %i2, %i3) : tensor<4x3x3x2xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %pad = te.compute "pad" [2, 4, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x4x5x5xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %kernel_pad = te.compute "kernel_pad" [4, 3, 4, 2] (%i0, %i1, %i2, %i3) : tensor<4x3x4x2xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %kernel_phases = te.compute "kernel_phases" [6, 2, 2, 2, 2] (%i0, %i1, %i2, %i3, %i4) : tensor<6x2x2x2x2xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %conv = te.compute "conv" [2, 6, 2, 4, 4] sum [2, 2, 2] (%i0, %i1, %i2, %i3, %i4, %c, %r, %s) : tensor<2x6x2x4x4xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      %conv_transpose = te.compute "conv_transpose" [2, 6, 7, 4] (%i0, %i1, %i2, %i3) : tensor<2x6x7x4xi32> attributes {tag = "qnn.conv2d_transpose"} {
// CHECK:      te.return %conv_transpose : tensor<2x6x7x4xi32>
