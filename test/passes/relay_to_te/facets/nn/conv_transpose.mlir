// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_conv1d_transpose(%0: tensor<2x3x7xf32>, %1: tensor<3x4x3xf32>) -> tensor<2x4x9xf32> {
  %2 = relay.nn.conv1d_transpose %0, %1 : (tensor<2x3x7xf32>, tensor<3x4x3xf32>) -> tensor<2x4x9xf32>
  func.return %2 : tensor<2x4x9xf32>
}
// CHECK:      te.func @fused_nn_conv1d_transpose(%p0: tensor<2x3x7xf32>, %p1: tensor<3x4x3xf32>) -> tensor<2x4x9xf32> {
// CHECK-NEXT: %pad = te.compute "pad" [2, 3, 11] (%i0, %i1, %i2) : tensor<2x3x11xf32> attributes {tag = "nn.conv1d_transpose"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %i2 - 2] where [%i2 - 2 >= 0, %i2 * -1 + 8 >= 0] : tensor<2x3x7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %conv = te.compute "conv" [2, 4, 9] sum [3, 3] (%i0, %i1, %i2, %c, %s) : tensor<2x4x9xf32> attributes {tag = "nn.conv1d_transpose"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %pad[%i0, %c, %i2 + %s * -1 + 2] : tensor<2x3x11xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%c, %i1, %s] : tensor<3x4x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<2x4x9xf32>

func.func @nn_conv2d_transpose(%0: tensor<2x4x3x3xf32>, %1: tensor<4x3x3x2xf32>) -> tensor<2x6x7x4xf32> {
  %2 = relay.nn.conv2d_transpose %0, %1 {groups = 2, strides = [2, 1]} : (tensor<2x4x3x3xf32>, tensor<4x3x3x2xf32>) -> tensor<2x6x7x4xf32>
  func.return %2 : tensor<2x6x7x4xf32>
}
// CHECK:      te.func @fused_nn_conv2d_transpose(%p0: tensor<2x4x3x3xf32>, %p1: tensor<4x3x3x2xf32>) -> tensor<2x6x7x4xf32> {
// CHECK:      %pad = te.compute "pad" [2, 4, 5, 5] (%i0, %i1, %i2, %i3) : tensor<2x4x5x5xf32> attributes {tag = "nn.conv2d_transpose"} {
// CHECK:      %kernel_pad = te.compute "kernel_pad" [4, 3, 4, 2] (%i0, %i1, %i2, %i3) : tensor<4x3x4x2xf32> attributes {tag = "nn.conv2d_transpose"} {
// CHECK:      %kernel_phases = te.compute "kernel_phases" [6, 2, 2, 2, 2] (%i0, %i1, %i2, %i3, %i4) : tensor<6x2x2x2x2xf32> attributes {tag = "nn.conv2d_transpose"} {
// CHECK:      %conv = te.compute "conv" [2, 6, 2, 4, 4] sum [2, 2, 2] (%i0, %i1, %i2, %i3, %i4, %c, %r, %s) : tensor<2x6x2x4x4xf32> attributes {tag = "nn.conv2d_transpose"} {
// CHECK:      %conv_transpose = te.compute "conv_transpose" [2, 6, 7, 4] (%i0, %i1, %i2, %i3) : tensor<2x6x7x4xf32> attributes {tag = "nn.conv2d_transpose"} {
// CHECK:      te.return %conv_transpose : tensor<2x6x7x4xf32>

func.func @nn_conv3d_transpose(%0: tensor<1x1x1x1x1xf32>, %1: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %2 = relay.nn.conv3d_transpose %0, %1 : tensor<1x1x1x1x1xf32>
  func.return %2 : tensor<1x1x1x1x1xf32>
}
// CHECK:      te.func @fused_nn_conv3d_transpose(%p0: tensor<1x1x1x1x1xf32>, %p1: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [1, 1, 1, 1, 1] sum [1, 1, 1, 1] (%i0, %i1, %i2, %i3, %i4, %c, %q, %r, %s) : tensor<1x1x1x1x1xf32> attributes {tag = "nn.conv3d_transpose"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %c, %i2 + %q * -1, %i3 + %r * -1, %i4 + %s * -1] : tensor<1x1x1x1x1xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%c, %i1, %q, %r, %s] : tensor<1x1x1x1x1xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<1x1x1x1x1xf32>
