// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @image_crop_and_resize(%0: tensor<2x3x5x6xf32>, %1: tensor<0x4xf32>, %2: tensor<0xi32>) -> tensor<0x3x3x4xf32> {
  %3 = relay.image.crop_and_resize %0, %1, %2 {crop_size = [3, 4]} : (tensor<2x3x5x6xf32>, tensor<0x4xf32>, tensor<0xi32>) -> tensor<0x3x3x4xf32>
  func.return %3 : tensor<0x3x3x4xf32>
}
// CHECK:      te.func @fused_image_crop_and_resize(%p0: tensor<2x3x5x6xf32>, %p1: tensor<0x4xf32>, %p2: tensor<0xi32>) -> tensor<0x3x3x4xf32> {
// CHECK:      %h_place = te.compute "h_place" [0, 3] (%b, %i) : tensor<0x3xf32> attributes {tag = "image.crop_and_resize"} {
// CHECK:      %w_place = te.compute "w_place" [0, 4] (%b, %i) : tensor<0x4xf32> attributes {tag = "image.crop_and_resize"} {
// CHECK:      %crop_and_resize = te.compute "crop_and_resize" [0, 3, 3, 4] (%i0, %i1, %i2, %i3) : tensor<0x3x3x4xf32> attributes {tag = "image.crop_and_resize"} {
// CHECK:      te.return %crop_and_resize : tensor<0x3x3x4xf32>
