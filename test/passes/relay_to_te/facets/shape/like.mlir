// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @broadcast_to_like(%0: tensor<5xf32>, %1: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %2 = relay.broadcast_to_like %0, %1 : (tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}
// CHECK:      te.func @fused_broadcast_to_like(%p0: tensor<5xf32>, %p1: tensor<3x5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT: %broadcast_to_like = te.compute "broadcast_to_like" [3, 5] (%i0, %i1) : tensor<3x5xf32> attributes {tag = "broadcast_to_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i1] : tensor<5xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %broadcast_to_like : tensor<3x5xf32>

func.func @cast_like(%0: tensor<3x5xf32>, %1: tensor<2xf64>) -> tensor<3x5xf64> {
  %2 = relay.cast_like %0, %1 : (tensor<3x5xf32>, tensor<2xf64>) -> tensor<3x5xf64>
  func.return %2 : tensor<3x5xf64>
}
// CHECK:      te.func @fused_cast_like(%p0: tensor<3x5xf32>, %p1: tensor<2xf64>) -> tensor<3x5xf64> {
// CHECK-NEXT: %cast_like = te.compute "cast_like" [3, 5] (%i0, %i1) : tensor<3x5xf64> attributes {tag = "cast_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x5xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.extf %{{[0-9]+}} : f32 to f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %cast_like : tensor<3x5xf64>

func.func @collapse_sum_like(%0: tensor<2x3xf32>, %1: tensor<f32>) -> tensor<f32> {
  %2 = relay.collapse_sum_like %0, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}
// CHECK:      te.func @fused_collapse_sum_like(%p0: tensor<2x3xf32>, %p1: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %collapse_sum_like_wide = te.compute "collapse_sum_like_wide" [1, 1] sum [2, 3] (%i0, %i1, %k0, %k1) : tensor<1x1xf32> attributes {tag = "collapse_sum_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0, %k1] : tensor<2x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %collapse_sum_like = te.compute "collapse_sum_like" [] () : tensor<f32> attributes {tag = "collapse_sum_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %collapse_sum_like_wide[0, 0] : tensor<1x1xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %collapse_sum_like : tensor<f32>

func.func @collapse_sum_to(%0: tensor<2x3xf32>) -> tensor<f32> {
  %1 = relay.collapse_sum_to %0 {shape = []} : (tensor<2x3xf32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}
// CHECK:      te.func @fused_collapse_sum_to(%p0: tensor<2x3xf32>) -> tensor<f32> {
// CHECK-NEXT: %collapse_sum_to_wide = te.compute "collapse_sum_to_wide" [1, 1] sum [2, 3] (%i0, %i1, %k0, %k1) : tensor<1x1xf32> attributes {tag = "collapse_sum_to"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0, %k1] : tensor<2x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %collapse_sum_to = te.compute "collapse_sum_to" [] () : tensor<f32> attributes {tag = "collapse_sum_to"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %collapse_sum_to_wide[0, 0] : tensor<1x1xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %collapse_sum_to : tensor<f32>

func.func @reshape_like(%0: tensor<3x4xf32>, %1: tensor<2x6xi32>) -> tensor<2x6xf32> {
  %2 = relay.reshape_like %0, %1 : (tensor<3x4xf32>, tensor<2x6xi32>) -> tensor<2x6xf32>
  func.return %2 : tensor<2x6xf32>
}
// CHECK:      te.func @fused_reshape_like(%p0: tensor<3x4xf32>, %p1: tensor<2x6xi32>) -> tensor<2x6xf32> {
// CHECK-NEXT: %reshape_like = te.compute "reshape_like" [2, 6] (%i0, %i1) : tensor<2x6xf32> attributes {tag = "reshape_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[(%i1 + %i0 * 6) floordiv 4, (%i1 + %i0 * 2) mod 4] : tensor<3x4xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reshape_like : tensor<2x6xf32>

func.func @slice_like(%0: tensor<5x7xi32>, %1: tensor<0x7xf32>) -> tensor<0x7xi32> {
  %2 = relay.slice_like %0, %1 : (tensor<5x7xi32>, tensor<0x7xf32>) -> tensor<0x7xi32>
  func.return %2 : tensor<0x7xi32>
}
// CHECK:      te.func @fused_slice_like(%p0: tensor<5x7xi32>, %p1: tensor<0x7xf32>) -> tensor<0x7xi32> {
// CHECK-NEXT: %slice_like = te.compute "slice_like" [0, 7] (%i0, %i1) : tensor<0x7xi32> attributes {tag = "slice_like"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x7xi32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %slice_like : tensor<0x7xi32>
