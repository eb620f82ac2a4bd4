// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vision_multibox_prior(%0: tensor<0x0x2x2xf32>) -> tensor<1x8x4xf32> {
  %1 = relay.vision.multibox_prior %0 {sizes = [0.7, 0.1]} : (tensor<0x0x2x2xf32>) -> tensor<1x8x4xf32>
  func.return %1 : tensor<1x8x4xf32>
}
// CHECK:      te.func @fused_vision_multibox_prior(%p0: tensor<0x0x2x2xf32>) -> tensor<1x8x4xf32> {
// CHECK:      %multibox_prior = te.compute "multibox_prior" [1, 8, 4] (%n, %b, %k) : tensor<1x8x4xf32> attributes {tag = "vision.multibox_prior"} {
// CHECK:      te.return %multibox_prior : tensor<1x8x4xf32>

func.func @vision_multibox_transform_loc(%0: tensor<2x3x5xf64>, %1: tensor<2x20xf64>, %2: tensor<1x5x4xf64>) -> (tensor<2x5x6xf64>, tensor<2xi32>) {
  %3, %4 = relay.vision.multibox_transform_loc %0, %1, %2 : (tensor<2x3x5xf64>, tensor<2x20xf64>, tensor<1x5x4xf64>) -> (tensor<2x5x6xf64>, tensor<2xi32>)
  func.return %3, %4 : tensor<2x5x6xf64>, tensor<2xi32>
}
// CHECK:      te.func @fused_vision_multibox_transform_loc(%p0: tensor<2x3x5xf64>, %p1: tensor<2x20xf64>, %p2: tensor<1x5x4xf64>) -> (tensor<2x5x6xf64>, tensor<2xi32>) {
// CHECK:      %multibox_v0, %multibox_v1 = te.extern "multibox" (%p0_buffer = %p0, %p1_buffer = %p1, %p2_buffer = %p2) -> (%out0, %out1) : (tensor<2x3x5xf64>, tensor<2x20xf64>, tensor<1x5x4xf64>) -> (tensor<2x5x6xf64>, tensor<2xi32>) attributes {tag = "vision.multibox_transform_loc"} {
// CHECK:      te.return %multibox_v0, %multibox_v1 : tensor<2x5x6xf64>, tensor<2xi32>
