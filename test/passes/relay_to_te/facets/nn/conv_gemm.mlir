// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_contrib_conv2d_gemm_weight_transform(%0: tensor<2x2x3x5xf32>) -> tensor<1x2x5x7xf32> {
  %1 = relay.nn.contrib_conv2d_gemm_weight_transform %0 {tile_K = 7, tile_N = 5} : (tensor<2x2x3x5xf32>) -> tensor<1x2x5x7xf32>
  func.return %1 : tensor<1x2x5x7xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_gemm_weight_transform(%p0: tensor<2x2x3x5xf32>) -> tensor<1x2x5x7xf32> {
// CHECK-NEXT: %gemm_weight = te.compute "gemm_weight" [1, 2, 5, 7] (%no, %ko, %ni, %ki) : tensor<1x2x5x7xf32> attributes {tag = "nn.contrib_conv2d_gemm_weight_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[(%ko * 7 + %ki) floordiv 6, ((%ko * 7 + %ki) floordiv 3) mod 2, (%ko + %ki) mod 3, %no * 5 + %ni] where [%ko * -7 + %ki * -1 + 11 >= 0] : tensor<2x2x3x5xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %gemm_weight : tensor<1x2x5x7xf32>

func.func @nn_contrib_conv2d_gemm_without_weight_transform(%0: tensor<2x3x3x4xf32>, %1: tensor<3x1x2x4xf32>) -> tensor<2x3x3x6xf32> {
  %2 = relay.nn.contrib_conv2d_gemm_without_weight_transform %0, %1 {channels = 6, data_layout = "NHWC", groups = 2, kernel_layout = "HWIO", kernel_size = [1, 1]} : (tensor<2x3x3x4xf32>, tensor<3x1x2x4xf32>) -> tensor<2x3x3x6xf32>
  func.return %2 : tensor<2x3x3x6xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_gemm_without_weight_transform(%p0: tensor<2x3x3x4xf32>, %p1: tensor<3x1x2x4xf32>) -> tensor<2x3x3x6xf32> {
// CHECK-NEXT: %kernel = te.compute "kernel" [1, 1, 2, 6] (%r, %s, %c, %o) : tensor<1x1x2x6xf32> attributes {tag = "nn.contrib_conv2d_gemm_without_weight_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%o floordiv 2, 0, %o mod 2, %r * 2 + %s * 2 + %c] : tensor<3x1x2x4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %conv2d_gemm = te.compute "conv2d_gemm" [2, 3, 3, 6] sum [2, 1, 1] (%i0, %i1, %i2, %i3, %c, %r, %s) : tensor<2x3x3x6xf32> attributes {tag = "nn.contrib_conv2d_gemm_without_weight_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1 + %r, %i2 + %s, %i3 floordiv 3 * 2 + %c] : tensor<2x3x3x4xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.read %kernel[%r, %s, %c, %i3] : tensor<1x1x2x6xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %conv2d_gemm : tensor<2x3x3x6xf32>
