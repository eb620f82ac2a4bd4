// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_conv1d(%0: tensor<2x4x5xf32>, %1: tensor<6x2x1xf32>) -> tensor<2x6x5xf32> {
  %2 = relay.nn.conv1d %0, %1 {groups = 2} : (tensor<2x4x5xf32>, tensor<6x2x1xf32>) -> tensor<2x6x5xf32>
  func.return %2 : tensor<2x6x5xf32>
}
// CHECK:      te.func @fused_nn_conv1d(%p0: tensor<2x4x5xf32>, %p1: tensor<6x2x1xf32>) -> tensor<2x6x5xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [2, 6, 5] sum [2, 1] (%n, %k, %x, %c, %s) : tensor<2x6x5xf32> attributes {tag = "nn.conv1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n, %k floordiv 3 * 2 + %c, %x + %s] : tensor<2x4x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%k, %c, %s] : tensor<6x2x1xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<2x6x5xf32>

func.func @nn_conv2d(%0: tensor<2x3x4x5xf32>, %1: tensor<3x1x3x2xf32>) -> tensor<2x3x2x4xf32> {
  %2 = relay.nn.conv2d %0, %1 {channels = 3, groups = 3, kernel_size = [3, 2]} : (tensor<2x3x4x5xf32>, tensor<3x1x3x2xf32>) -> tensor<2x3x2x4xf32>
  func.return %2 : tensor<2x3x2x4xf32>
}
// CHECK:      te.func @fused_nn_conv2d(%p0: tensor<2x3x4x5xf32>, %p1: tensor<3x1x3x2xf32>) -> tensor<2x3x2x4xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [2, 3, 2, 4] sum [1, 3, 2] (%n, %k, %y, %x, %c, %r, %s) : tensor<2x3x2x4xf32> attributes {tag = "nn.conv2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n, %k + %c, %y + %r, %x + %s] : tensor<2x3x4x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%k, %c, %r, %s] : tensor<3x1x3x2xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<2x3x2x4xf32>

func.func @nn_conv3d(%0: tensor<2x4x3x3x5xf32>, %1: tensor<6x2x1x1x1xf32>) -> tensor<2x6x3x3x5xf32> {
  %2 = relay.nn.conv3d %0, %1 {groups = 2} : (tensor<2x4x3x3x5xf32>, tensor<6x2x1x1x1xf32>) -> tensor<2x6x3x3x5xf32>
  func.return %2 : tensor<2x6x3x3x5xf32>
}
// CHECK:      te.func @fused_nn_conv3d(%p0: tensor<2x4x3x3x5xf32>, %p1: tensor<6x2x1x1x1xf32>) -> tensor<2x6x3x3x5xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [2, 6, 3, 3, 5] sum [2, 1, 1, 1] (%n, %k, %z, %y, %x, %c, %q, %r, %s) : tensor<2x6x3x3x5xf32> attributes {tag = "nn.conv3d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n, %k floordiv 3 * 2 + %c, %z + %q, %y + %r, %x + %s] : tensor<2x4x3x3x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%k, %c, %q, %r, %s] : tensor<6x2x1x1x1xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<2x6x3x3x5xf32>
