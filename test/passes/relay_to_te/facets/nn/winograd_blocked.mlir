// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_contrib_conv2d_winograd_NCHWc(%0: tensor<1x1x3x3x1xf32>, %1: tensor<4x4x1x1x1x1xf32>, %2: tensor<1x1x3x3x1x1xf32>, %3: tensor<f32>) -> tensor<1x1x1x1x1xf32> {
  %4 = relay.nn.contrib_conv2d_winograd_NCHWc %0, %1, %2, %3 {channels = 1, tile_size = 2} : (tensor<1x1x3x3x1xf32>, tensor<4x4x1x1x1x1xf32>, tensor<1x1x3x3x1x1xf32>, tensor<f32>) -> tensor<1x1x1x1x1xf32>
  func.return %4 : tensor<1x1x1x1x1xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_winograd_NCHWc(%p0: tensor<1x1x3x3x1xf32>, %p1: tensor<4x4x1x1x1x1xf32>, %p2: tensor<1x1x3x3x1x1xf32>, %p3: tensor<f32>) -> tensor<1x1x1x1x1xf32> {
// CHECK:      %pad = te.compute "pad" [1, 1, 4, 4, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x4x4x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %tile_rows = te.compute "tile_rows" [1, 4, 4, 1, 1, 1] (%n, %e, %s, %c, %t, %ci) : tensor<1x4x4x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %tiles = te.compute "tiles" [1, 4, 4, 1, 1, 1] (%n, %e, %f, %c, %t, %ci) : tensor<1x4x4x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %products = te.compute "products" [1, 4, 4, 1, 1, 1] sum [1, 1] (%n, %e, %f, %ko, %t, %kv, %c, %ci) : tensor<1x4x4x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %result_rows = te.compute "result_rows" [1, 2, 4, 1, 1, 1] (%n, %i, %f, %ko, %t, %kv) : tensor<1x2x4x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %magnitudes = te.compute "magnitudes" [1, 1, 4, 4, 1] sum [1] (%n, %g, %y, %x, %ci, %c) : tensor<1x1x4x4x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %square_columns = te.compute "square_columns" [1, 1, 4, 1] (%n, %ty, %x, %ci) : tensor<1x1x4x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %squares = te.compute "squares" [1, 1] sum [1] (%n, %t, %ci) : tensor<1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %turned = te.compute "turned" [1, 4, 1, 4] (%n, %y, %ci, %x) : tensor<1x4x1x4xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %sums = te.compute "sums" [1, 4, 4] sum [1] (%n, %y, %x, %ci) : tensor<1x4x4xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %least_rows = te.compute "least_rows" [1, 1, 2] (%n, %ty, %x) : tensor<1x1x2xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %least = te.compute "least" [1, 1] (%n, %t) : tensor<1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %far = te.compute "far" [1, 1] (%n, %t) : tensor<1x1xi32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %own_tiles = te.compute "own_tiles" [1, 1, 1, 4, 4, 1] (%n, %t, %c, %e, %f, %ci) : tensor<1x1x1x4x4x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %direct = te.compute "direct" [1, 2, 2, 1, 1, 1] sum [1, 3, 3, 1] (%n, %i, %j, %ko, %t, %kv, %c, %r, %s, %ci) : tensor<1x2x2x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      %conv = te.compute "conv" [1, 1, 1, 1, 1] (%n, %ko, %y, %x, %kv) : tensor<1x1x1x1x1xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc"} {
// CHECK:      te.return %conv : tensor<1x1x1x1x1xf32>

func.func @nn_contrib_conv2d_winograd_NCHWc_limit(%0: tensor<2x2x1x1x2x2xf32>) -> tensor<f32> {
  %1 = relay.nn.contrib_conv2d_winograd_NCHWc_limit %0 {tile_size = 1} : (tensor<2x2x1x1x2x2xf32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_winograd_NCHWc_limit(%p0: tensor<2x2x1x1x2x2xf32>) -> tensor<f32> {
// CHECK:      %top = te.compute "top" [] max [2, 2, 1, 1, 2, 2] (%k0, %k1, %k2, %k3, %k4, %k5) : tensor<f32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc_limit"} {
// CHECK:      %limit = te.compute "limit" [] () : tensor<f32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc_limit"} {
// CHECK:      te.return %limit : tensor<f32>

func.func @nn_contrib_conv2d_winograd_NCHWc_weight_transform(%0: tensor<2x1x1x1x2x2xf32>) -> tensor<2x2x2x1x2x2xf32> {
  %1 = relay.nn.contrib_conv2d_winograd_NCHWc_weight_transform %0 {tile_size = 2} : (tensor<2x1x1x1x2x2xf32>) -> tensor<2x2x2x1x2x2xf32>
  func.return %1 : tensor<2x2x2x1x2x2xf32>
}
// CHECK:      te.func @fused_nn_contrib_conv2d_winograd_NCHWc_weight_transform(%p0: tensor<2x1x1x1x2x2xf32>) -> tensor<2x2x2x1x2x2xf32> {
// CHECK-NEXT: %kernel_rows = te.compute "kernel_rows" [2, 1, 2, 1, 2, 2] (%e, %s, %o, %i, %ci, %ov) : tensor<2x1x2x1x2x2xf64> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc_weight_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%o, %i, 0, %s, %ci, %ov] : tensor<2x1x1x1x2x2xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.extf %{{[0-9]+}} : f32 to f64
// CHECK-NEXT: %{{[0-9]+}} = te.condition [%e == 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: %winograd_weight = te.compute "winograd_weight" [2, 2, 2, 1, 2, 2] (%e, %n, %o, %i, %ci, %ov) : tensor<2x2x2x1x2x2xf32> attributes {tag = "nn.contrib_conv2d_winograd_NCHWc_weight_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %kernel_rows[%e, 0, %o, %i, %ci, %ov] : tensor<2x1x2x1x2x2xf64>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [%n == 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.truncf %{{[0-9]+}} : f64 to f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %winograd_weight : tensor<2x2x2x1x2x2xf32>
