// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_adaptive_avg_pool1d(%0: tensor<2x2x3xf32>) -> tensor<2x2x5xf32> {
  %1 = relay.nn.adaptive_avg_pool1d %0 {output_size = [5]} : (tensor<2x2x3xf32>) -> tensor<2x2x5xf32>
  func.return %1 : tensor<2x2x5xf32>
}
// CHECK:      te.func @fused_nn_adaptive_avg_pool1d(%p0: tensor<2x2x3xf32>) -> tensor<2x2x5xf32> {
// CHECK-NEXT: %region_sum = te.compute "region_sum" [2, 2, 5] sum [2] (%i0, %i1, %i2, %s) : tensor<2x2x5xf32> attributes {tag = "nn.adaptive_avg_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, (%i2 * 3) floordiv 5 + %s] where [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %s * -1 >= 0] : tensor<2x2x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %adaptive_avg_pool1d = te.compute "adaptive_avg_pool1d" [2, 2, 5] (%i0, %i1, %i2) : tensor<2x2x5xf32> attributes {tag = "nn.adaptive_avg_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %region_sum[%i0, %i1, %i2] : tensor<2x2x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.index [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + 1] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.sitofp %{{[0-9]+}} : i64 to f32
// CHECK-NEXT: %{{[0-9]+}} = arith.divf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %adaptive_avg_pool1d : tensor<2x2x5xf32>

func.func @nn_adaptive_avg_pool2d(%0: tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32> {
  %1 = relay.nn.adaptive_avg_pool2d %0 {output_size = [5, 7]} : (tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32>
  func.return %1 : tensor<2x2x5x7xf32>
}
// CHECK:      te.func @fused_nn_adaptive_avg_pool2d(%p0: tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32> {
// CHECK:      %region_sum = te.compute "region_sum" [2, 2, 5, 7] sum [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x2x5x7xf32> attributes {tag = "nn.adaptive_avg_pool2d"} {
// CHECK:      %adaptive_avg_pool2d = te.compute "adaptive_avg_pool2d" [2, 2, 5, 7] (%i0, %i1, %i2, %i3) : tensor<2x2x5x7xf32> attributes {tag = "nn.adaptive_avg_pool2d"} {
// CHECK:      te.return %adaptive_avg_pool2d : tensor<2x2x5x7xf32>

func.func @nn_adaptive_avg_pool3d(%0: tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32> {
  %1 = relay.nn.adaptive_avg_pool3d %0 {output_size = [5, 7, 3]} : (tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32>
  func.return %1 : tensor<2x2x5x7x3xf32>
}
// CHECK:      te.func @fused_nn_adaptive_avg_pool3d(%p0: tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32> {
// CHECK:      %region_sum = te.compute "region_sum" [2, 2, 5, 7, 3] sum [2, 2, 2] (%i0, %i1, %i2, %i3, %i4, %q, %r, %s) : tensor<2x2x5x7x3xf32> attributes {tag = "nn.adaptive_avg_pool3d"} {
// CHECK:      %adaptive_avg_pool3d = te.compute "adaptive_avg_pool3d" [2, 2, 5, 7, 3] (%i0, %i1, %i2, %i3, %i4) : tensor<2x2x5x7x3xf32> attributes {tag = "nn.adaptive_avg_pool3d"} {
// CHECK:      te.return %adaptive_avg_pool3d : tensor<2x2x5x7x3xf32>

func.func @nn_adaptive_max_pool1d(%0: tensor<2x2x3xf32>) -> tensor<2x2x5xf32> {
  %1 = relay.nn.adaptive_max_pool1d %0 {output_size = [5]} : (tensor<2x2x3xf32>) -> tensor<2x2x5xf32>
  func.return %1 : tensor<2x2x5xf32>
}
// CHECK:      te.func @fused_nn_adaptive_max_pool1d(%p0: tensor<2x2x3xf32>) -> tensor<2x2x5xf32> {
// CHECK-NEXT: %adaptive_max_pool1d = te.compute "adaptive_max_pool1d" [2, 2, 5] max [2] (%i0, %i1, %i2, %s) : tensor<2x2x5xf32> attributes {tag = "nn.adaptive_max_pool1d"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0xff800000 : f32
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, (%i2 * 3) floordiv 5 + %s] where [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %s * -1 >= 0] : tensor<2x2x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %s * -1 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %adaptive_max_pool1d : tensor<2x2x5xf32>

func.func @nn_adaptive_max_pool2d(%0: tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32> {
  %1 = relay.nn.adaptive_max_pool2d %0 {output_size = [5, 7]} : (tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32>
  func.return %1 : tensor<2x2x5x7xf32>
}
// CHECK:      te.func @fused_nn_adaptive_max_pool2d(%p0: tensor<2x2x3x4xf32>) -> tensor<2x2x5x7xf32> {
// CHECK-NEXT: %adaptive_max_pool2d = te.compute "adaptive_max_pool2d" [2, 2, 5, 7] max [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x2x5x7xf32> attributes {tag = "nn.adaptive_max_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0xff800000 : f32
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, (%i2 * 3) floordiv 5 + %r, (%i3 * 4) floordiv 7 + %s] where [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %r * -1 >= 0, (%i3 * 4 + 3) floordiv 7 + (%i3 * 4) floordiv 7 * -1 + %s * -1 >= 0] : tensor<2x2x3x4xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %r * -1 >= 0, (%i3 * 4 + 3) floordiv 7 + (%i3 * 4) floordiv 7 * -1 + %s * -1 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %adaptive_max_pool2d : tensor<2x2x5x7xf32>

func.func @nn_adaptive_max_pool3d(%0: tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32> {
  %1 = relay.nn.adaptive_max_pool3d %0 {output_size = [5, 7, 3]} : (tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32>
  func.return %1 : tensor<2x2x5x7x3xf32>
}
// CHECK:      te.func @fused_nn_adaptive_max_pool3d(%p0: tensor<2x2x3x4x2xf32>) -> tensor<2x2x5x7x3xf32> {
// CHECK-NEXT: %adaptive_max_pool3d = te.compute "adaptive_max_pool3d" [2, 2, 5, 7, 3] max [2, 2, 2] (%i0, %i1, %i2, %i3, %i4, %q, %r, %s) : tensor<2x2x5x7x3xf32> attributes {tag = "nn.adaptive_max_pool3d"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0xff800000 : f32
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, (%i2 * 3) floordiv 5 + %q, (%i3 * 4) floordiv 7 + %r, (%i4 * 2) floordiv 3 + %s] where [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %q * -1 >= 0, (%i3 * 4 + 3) floordiv 7 + (%i3 * 4) floordiv 7 * -1 + %r * -1 >= 0, (%i4 * 2 + 1) floordiv 3 + (%i4 * 2) floordiv 3 * -1 + %s * -1 >= 0] : tensor<2x2x3x4x2xf32>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [(%i2 * 3 + 2) floordiv 5 + (%i2 * 3) floordiv 5 * -1 + %q * -1 >= 0, (%i3 * 4 + 3) floordiv 7 + (%i3 * 4) floordiv 7 * -1 + %r * -1 >= 0, (%i4 * 2 + 1) floordiv 3 + (%i4 * 2) floordiv 3 * -1 + %s * -1 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %adaptive_max_pool3d : tensor<2x2x5x7x3xf32>

func.func @nn_global_avg_pool2d(%0: tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64> {
  %1 = relay.nn.global_avg_pool2d %0 : (tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64>
  func.return %1 : tensor<2x3x1x1xf64>
}
// CHECK:      te.func @fused_nn_global_avg_pool2d(%p0: tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64> {
// CHECK-NEXT: %image_sum = te.compute "image_sum" [2, 3, 1, 1] sum [4, 5] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x3x1x1xf64> attributes {tag = "nn.global_avg_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %r, %s] : tensor<2x3x4x5xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: %global_avg_pool2d = te.compute "global_avg_pool2d" [2, 3, 1, 1] (%i0, %i1, %i2, %i3) : tensor<2x3x1x1xf64> attributes {tag = "nn.global_avg_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %image_sum[%i0, %i1, %i2, %i3] : tensor<2x3x1x1xf64>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 5.000000e-02 : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %global_avg_pool2d : tensor<2x3x1x1xf64>

func.func @nn_global_max_pool2d(%0: tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64> {
  %1 = relay.nn.global_max_pool2d %0 : (tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64>
  func.return %1 : tensor<2x3x1x1xf64>
}
// CHECK:      te.func @fused_nn_global_max_pool2d(%p0: tensor<2x3x4x5xf64>) -> tensor<2x3x1x1xf64> {
// CHECK-NEXT: %global_max_pool2d = te.compute "global_max_pool2d" [2, 3, 1, 1] max [4, 5] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x3x1x1xf64> attributes {tag = "nn.global_max_pool2d"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, %r, %s] : tensor<2x3x4x5xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %global_max_pool2d : tensor<2x3x1x1xf64>
