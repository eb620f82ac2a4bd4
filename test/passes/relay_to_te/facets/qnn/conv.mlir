// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_conv2d(%0: tensor<2x4x5x5xi8>, %1: tensor<6x2x1x1xi8>, %2: tensor<i32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<f32>) -> tensor<2x6x5x5xi32> {
  %6 = relay.qnn.conv2d %0, %1, %2, %3, %4, %5 {groups = 2} : (tensor<2x4x5x5xi8>, tensor<6x2x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x6x5x5xi32>
  func.return %6 : tensor<2x6x5x5xi32>
}
// CHECK:      te.func @fused_qnn_conv2d(%p0: tensor<2x4x5x5xi8>, %p1: tensor<6x2x1x1xi8>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<f32>) -> tensor<2x6x5x5xi32> {
// CHECK:      %cast = te.compute "cast" [2, 4, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x4x5x5xi32> attributes {tag = "qnn.conv2d"} {
// CHECK:      %subtract = te.compute "subtract" [2, 4, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x4x5x5xi32> attributes {tag = "qnn.conv2d"} {
// CHECK:      %cast_1 = te.compute "cast_1" [6, 2, 1, 1] (%i0, %i1, %i2, %i3) : tensor<6x2x1x1xi32> attributes {tag = "qnn.conv2d"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [6, 2, 1, 1] (%i0, %i1, %i2, %i3) : tensor<6x2x1x1xi32> attributes {tag = "qnn.conv2d"} {
// CHECK:      %conv = te.compute "conv" [2, 6, 5, 5] sum [2, 1, 1] (%n, %k, %y, %x, %c, %r, %s) : tensor<2x6x5x5xi32> attributes {tag = "qnn.conv2d"} {
// CHECK:      te.return %conv : tensor<2x6x5x5xi32>
