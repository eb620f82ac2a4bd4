// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_contrib_conv2d_NCHWc(%0: tensor<2x2x3x3x8xf32>, %1: tensor<3x2x1x1x8x8xf32>) -> tensor<2x3x3x3x8xf32> {
  %2 = relay.nn.contrib_conv2d_NCHWc %0, %1 {channels = 24, data_layout = "NCHW8c", kernel_layout = "OIHW8i8o", out_layout = "NCHW8c"} : (tensor<2x2x3x3x8xf32>, tensor<3x2x1x1x8x8xf32>) -> tensor<2x3x3x3x8xf32>
  func.return %2 : tensor<2x3x3x3x8xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_NCHWc(%p0: tensor<2x2x3x3x8xf32>, %p1: tensor<3x2x1x1x8x8xf32>) -> tensor<2x3x3x3x8xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [2, 3, 3, 3, 8] sum [2, 1, 1, 8] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci) : tensor<2x3x3x3x8xf32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n, %c, %y + %r, %x + %s, %ci] : tensor<2x2x3x3x8xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%ko, %c, %r, %s, %ci, %kv] : tensor<3x2x1x1x8x8xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<2x3x3x3x8xf32>

func.func @nn_contrib_depthwise_conv2d_NCHWc(%0: tensor<1x1x1x1x16xf32>, %1: tensor<1x1x1x1x1x16xf32>) -> tensor<1x1x1x1x16xf32> {
  %2 = relay.nn.contrib_depthwise_conv2d_NCHWc %0, %1 {channels = 1} : (tensor<1x1x1x1x16xf32>, tensor<1x1x1x1x1x16xf32>) -> tensor<1x1x1x1x16xf32>
  func.return %2 : tensor<1x1x1x1x16xf32>
}
// CHECK:      te.func @fused_nn_contrib_depthwise_conv2d_NCHWc(%p0: tensor<1x1x1x1x16xf32>, %p1: tensor<1x1x1x1x1x16xf32>) -> tensor<1x1x1x1x16xf32> {
// CHECK-NEXT: %conv = te.compute "conv" [1, 1, 1, 1, 16] sum [1, 1] (%n, %ko, %y, %x, %kv, %r, %s) : tensor<1x1x1x1x16xf32> attributes {tag = "nn.contrib_depthwise_conv2d_NCHWc"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n, %ko, %y + %r, %x + %s, %kv] : tensor<1x1x1x1x16xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%ko, 0, %r, %s, 0, %kv] : tensor<1x1x1x1x1x16xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv : tensor<1x1x1x1x16xf32>
