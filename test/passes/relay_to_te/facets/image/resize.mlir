// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @image_resize1d(%0: tensor<2x3x2xf32>) -> tensor<2x3x6xf32> {
  %1 = relay.image.resize1d %0 {cubic_exclude = 1, method = "cubic", size = [6]} : (tensor<2x3x2xf32>) -> tensor<2x3x6xf32>
  func.return %1 : tensor<2x3x6xf32>
}
// CHECK:      te.func @fused_image_resize1d(%p0: tensor<2x3x2xf32>) -> tensor<2x3x6xf32> {
// CHECK:      %w_place = te.compute "w_place" [6] (%i) : tensor<6xi64> attributes {tag = "image.resize1d"} {
// CHECK:      %w_part0 = te.compute "w_part0" [6] (%i0) : tensor<6xf32> attributes {tag = "image.resize1d"} {
// CHECK:      %w_part1 = te.compute "w_part1" [6] (%i0) : tensor<6xf32> attributes {tag = "image.resize1d"} {
// CHECK:      %w_part2 = te.compute "w_part2" [6] (%i0) : tensor<6xf32> attributes {tag = "image.resize1d"} {
// CHECK:      %w_part3 = te.compute "w_part3" [6] (%i0) : tensor<6xf32> attributes {tag = "image.resize1d"} {
// CHECK:      %resize_w = te.compute "resize_w" [2, 3, 6] (%i0, %i1, %i2) : tensor<2x3x6xf32> attributes {tag = "image.resize1d"} {
// CHECK:      te.return %resize_w : tensor<2x3x6xf32>

func.func @image_resize2d(%0: tensor<1x1x1x1xf32>) -> tensor<1x1x3x7xf32> {
  %1 = relay.image.resize2d %0 {method = "cubic", size = [3, 7]} : (tensor<1x1x1x1xf32>) -> tensor<1x1x3x7xf32>
  func.return %1 : tensor<1x1x3x7xf32>
}
// CHECK:      te.func @fused_image_resize2d(%p0: tensor<1x1x1x1xf32>) -> tensor<1x1x3x7xf32> {
// CHECK:      %h_place = te.compute "h_place" [3] (%i) : tensor<3xi64> attributes {tag = "image.resize2d"} {
// CHECK:      %h_part0 = te.compute "h_part0" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %h_part1 = te.compute "h_part1" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %h_part2 = te.compute "h_part2" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %h_part3 = te.compute "h_part3" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %resize_h = te.compute "resize_h" [1, 1, 3, 1] (%i0, %i1, %i2, %i3) : tensor<1x1x3x1xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %w_place = te.compute "w_place" [7] (%i) : tensor<7xi64> attributes {tag = "image.resize2d"} {
// CHECK:      %w_part0 = te.compute "w_part0" [7] (%i0) : tensor<7xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %w_part1 = te.compute "w_part1" [7] (%i0) : tensor<7xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %w_part2 = te.compute "w_part2" [7] (%i0) : tensor<7xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %w_part3 = te.compute "w_part3" [7] (%i0) : tensor<7xf32> attributes {tag = "image.resize2d"} {
// CHECK:      %resize_w = te.compute "resize_w" [1, 1, 3, 7] (%i0, %i1, %i2, %i3) : tensor<1x1x3x7xf32> attributes {tag = "image.resize2d"} {
// CHECK:      te.return %resize_w : tensor<1x1x3x7xf32>

func.func @one_row_stays(%0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x3xf32> {
  %1 = relay.image.resize2d %0 {coordinate_transformation_mode = "pytorch_half_pixel", size = [1, 3]} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x3xf32>
  func.return %1 : tensor<1x1x1x3xf32>
}
// CHECK:      te.func @fused_image_resize2d_1(%p0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x3xf32> {
// CHECK-NEXT:   %w_place = te.compute "w_place" [3] (%i) : tensor<3xi64> attributes {tag = "image.resize2d"} {
// CHECK:      te.return %resize_w : tensor<1x1x1x3xf32>

func.func @image_resize3d(%0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x3x5xf32> {
  %1 = relay.image.resize3d %0 {method = "cubic", size = [2, 3, 5]} : (tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x3x5xf32>
  func.return %1 : tensor<1x1x2x3x5xf32>
}
// CHECK:      te.func @fused_image_resize3d(%p0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x3x5xf32> {
// CHECK:      %d_place = te.compute "d_place" [2] (%i) : tensor<2xi64> attributes {tag = "image.resize3d"} {
// CHECK:      %d_part0 = te.compute "d_part0" [2] (%i0) : tensor<2xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %d_part1 = te.compute "d_part1" [2] (%i0) : tensor<2xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %d_part2 = te.compute "d_part2" [2] (%i0) : tensor<2xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %d_part3 = te.compute "d_part3" [2] (%i0) : tensor<2xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %resize_d = te.compute "resize_d" [1, 1, 2, 1, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x1x1xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %h_place = te.compute "h_place" [3] (%i) : tensor<3xi64> attributes {tag = "image.resize3d"} {
// CHECK:      %h_part0 = te.compute "h_part0" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %h_part1 = te.compute "h_part1" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %h_part2 = te.compute "h_part2" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %h_part3 = te.compute "h_part3" [3] (%i0) : tensor<3xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %resize_h = te.compute "resize_h" [1, 1, 2, 3, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x3x1xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %w_place = te.compute "w_place" [5] (%i) : tensor<5xi64> attributes {tag = "image.resize3d"} {
// CHECK:      %w_part0 = te.compute "w_part0" [5] (%i0) : tensor<5xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %w_part1 = te.compute "w_part1" [5] (%i0) : tensor<5xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %w_part2 = te.compute "w_part2" [5] (%i0) : tensor<5xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %w_part3 = te.compute "w_part3" [5] (%i0) : tensor<5xf32> attributes {tag = "image.resize3d"} {
// CHECK:      %resize_w = te.compute "resize_w" [1, 1, 2, 3, 5] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x3x5xf32> attributes {tag = "image.resize3d"} {
// CHECK:      te.return %resize_w : tensor<1x1x2x3x5xf32>
