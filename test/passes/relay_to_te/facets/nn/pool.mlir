// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_avg_pool1d(%0: tensor<2x3x9xf32>) -> tensor<2x3x8xf32> {
  %1 = relay.nn.avg_pool1d %0 {pool_size = [2]} : (tensor<2x3x9xf32>) -> tensor<2x3x8xf32>
  func.return %1 : tensor<2x3x8xf32>
}
// CHECK:      te.func @fused_nn_avg_pool1d(%p0: tensor<2x3x9xf32>) -> tensor<2x3x8xf32> {
// CHECK-NEXT: %window_sum = te.compute "window_sum" [2, 3, 8] sum [2] (%i0, %i1, %i2, %s) : tensor<2x3x8xf32> attributes {tag = "nn.avg_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %i2 + %s] : tensor<2x3x9xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %avg_pool1d = te.compute "avg_pool1d" [2, 3, 8] (%i0, %i1, %i2) : tensor<2x3x8xf32> attributes {tag = "nn.avg_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %window_sum[%i0, %i1, %i2] : tensor<2x3x8xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %avg_pool1d : tensor<2x3x8xf32>

func.func @nn_avg_pool2d(%0: tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32> {
  %1 = relay.nn.avg_pool2d %0 {layout = "NHWC", pool_size = [2, 2]} : (tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32>
  func.return %1 : tensor<2x4x3x3xf32>
}
// CHECK:      te.func @fused_nn_avg_pool2d(%p0: tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32> {
// CHECK-NEXT: %window_sum = te.compute "window_sum" [2, 4, 3, 3] sum [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x4x3x3xf32> attributes {tag = "nn.avg_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1 + %r, %i2 + %s, %i3] : tensor<2x5x4x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %avg_pool2d = te.compute "avg_pool2d" [2, 4, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x4x3x3xf32> attributes {tag = "nn.avg_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %window_sum[%i0, %i1, %i2, %i3] : tensor<2x4x3x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 2.500000e-01 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %avg_pool2d : tensor<2x4x3x3xf32>

func.func @nn_avg_pool3d(%0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %1 = relay.nn.avg_pool3d %0 {pool_size = [1, 1, 1]} : tensor<1x1x1x1x1xf32>
  func.return %1 : tensor<1x1x1x1x1xf32>
}
// CHECK:      te.func @fused_nn_avg_pool3d(%p0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
// CHECK-NEXT: %window_sum = te.compute "window_sum" [1, 1, 1, 1, 1] sum [1, 1, 1] (%i0, %i1, %i2, %i3, %i4, %q, %r, %s) : tensor<1x1x1x1x1xf32> attributes {tag = "nn.avg_pool3d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %i2 + %q, %i3 + %r, %i4 + %s] : tensor<1x1x1x1x1xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %avg_pool3d = te.compute "avg_pool3d" [1, 1, 1, 1, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x1x1x1xf32> attributes {tag = "nn.avg_pool3d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %window_sum[%i0, %i1, %i2, %i3, %i4] : tensor<1x1x1x1x1xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %avg_pool3d : tensor<1x1x1x1x1xf32>

func.func @nn_max_pool1d(%0: tensor<2x3x9xf32>) -> tensor<2x3x8xf32> {
  %1 = relay.nn.max_pool1d %0 {pool_size = [2]} : (tensor<2x3x9xf32>) -> tensor<2x3x8xf32>
  func.return %1 : tensor<2x3x8xf32>
}
// CHECK:      te.func @fused_nn_max_pool1d(%p0: tensor<2x3x9xf32>) -> tensor<2x3x8xf32> {
// CHECK-NEXT: %max_pool1d = te.compute "max_pool1d" [2, 3, 8] max [2] (%i0, %i1, %i2, %s) : tensor<2x3x8xf32> attributes {tag = "nn.max_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %i2 + %s] : tensor<2x3x9xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %max_pool1d : tensor<2x3x8xf32>

func.func @nn_max_pool2d(%0: tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32> {
  %1 = relay.nn.max_pool2d %0 {layout = "NHWC", pool_size = [2, 2]} : (tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32>
  func.return %1 : tensor<2x4x3x3xf32>
}
// CHECK:      te.func @fused_nn_max_pool2d(%p0: tensor<2x5x4x3xf32>) -> tensor<2x4x3x3xf32> {
// CHECK-NEXT: %max_pool2d = te.compute "max_pool2d" [2, 4, 3, 3] max [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x4x3x3xf32> attributes {tag = "nn.max_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1 + %r, %i2 + %s, %i3] : tensor<2x5x4x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %max_pool2d : tensor<2x4x3x3xf32>

func.func @nn_max_pool3d(%0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %1 = relay.nn.max_pool3d %0 {pool_size = [1, 1, 1]} : tensor<1x1x1x1x1xf32>
  func.return %1 : tensor<1x1x1x1x1xf32>
}
// CHECK:      te.func @fused_nn_max_pool3d(%p0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
// CHECK-NEXT: %max_pool3d = te.compute "max_pool3d" [1, 1, 1, 1, 1] max [1, 1, 1] (%i0, %i1, %i2, %i3, %i4, %q, %r, %s) : tensor<1x1x1x1x1xf32> attributes {tag = "nn.max_pool3d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %i2 + %q, %i3 + %r, %i4 + %s] : tensor<1x1x1x1x1xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %max_pool3d : tensor<1x1x1x1x1xf32>
