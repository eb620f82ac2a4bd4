// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vision_roi_align(%0: tensor<2x3x5x6xf32>, %1: tensor<0x5xf32>) -> tensor<0x3x2x3xf32> {
  %2 = relay.vision.roi_align %0, %1 {pooled_size = [2, 3], spatial_scale = 0.5} : (tensor<2x3x5x6xf32>, tensor<0x5xf32>) -> tensor<0x3x2x3xf32>
  func.return %2 : tensor<0x3x2x3xf32>
}
// CHECK:      te.func @fused_vision_roi_align(%p0: tensor<2x3x5x6xf32>, %p1: tensor<0x5xf32>) -> tensor<0x3x2x3xf32> {
// CHECK-NEXT: %roi_align = te.compute "roi_align" [0, 3, 2, 3] (%i0, %i1, %i2, %i3) : tensor<0x3x2x3xf32> attributes {tag = "vision.roi_align"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %roi_align : tensor<0x3x2x3xf32>

func.func @vision_roi_pool(%0: tensor<2x3x5x6xf32>, %1: tensor<0x5xf32>) -> tensor<0x3x2x3xf32> {
  %2 = relay.vision.roi_pool %0, %1 {pooled_size = [2, 3], spatial_scale = 0.5} : (tensor<2x3x5x6xf32>, tensor<0x5xf32>) -> tensor<0x3x2x3xf32>
  func.return %2 : tensor<0x3x2x3xf32>
}
// CHECK:      te.func @fused_vision_roi_pool(%p0: tensor<2x3x5x6xf32>, %p1: tensor<0x5xf32>) -> tensor<0x3x2x3xf32> {
// CHECK-NEXT: %roi_pool = te.compute "roi_pool" [0, 3, 2, 3] (%i0, %i1, %i2, %i3) : tensor<0x3x2x3xf32> attributes {tag = "vision.roi_pool"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %roi_pool : tensor<0x3x2x3xf32>
