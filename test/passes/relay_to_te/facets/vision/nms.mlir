// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vision_all_class_non_max_suppression(%0: tensor<2x5x4xf32>, %1: tensor<2x1x5xf32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<f32>) -> (tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>) {
  %5, %6, %7 = relay.vision.all_class_non_max_suppression %0, %1, %2, %3, %4 {output_format = "tensorflow"} : (tensor<2x5x4xf32>, tensor<2x1x5xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>)
  func.return %5, %6, %7 : tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>
}
// CHECK:      te.func @fused_vision_all_class_non_max_suppression(%p0: tensor<2x5x4xf32>, %p1: tensor<2x1x5xf32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<f32>) -> (tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>) {
// CHECK:      %nms_order = te.extern "nms_order" (%p1_buffer = %p1) -> (%out0) : (tensor<2x1x5xf32>) -> tensor<2x1x5xi32> attributes {tag = "vision.all_class_non_max_suppression"} {
// CHECK:      %nms_chosen_v0, %nms_chosen_v1 = te.extern "nms_chosen" (%p0_buffer = %p0, %p1_buffer = %p1, %nms_order_buffer = %nms_order, %p2_buffer = %p2, %p3_buffer = %p3, %p4_buffer = %p4) -> (%out0, %out1) : (tensor<2x5x4xf32>, tensor<2x1x5xf32>, tensor<2x1x5xi32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<2x1x5xi32>, tensor<2x1xi32>) attributes {tag = "vision.all_class_non_max_suppression"} {
// CHECK:      %nms_rows_v0, %nms_rows_v1, %nms_rows_v2 = te.extern "nms_rows" (%nms_chosen_v0_buffer = %nms_chosen_v0, %nms_chosen_v1_buffer = %nms_chosen_v1, %p1_buffer = %p1) -> (%out0, %out1, %out2) : (tensor<2x1x5xi32>, tensor<2x1xi32>, tensor<2x1x5xf32>) -> (tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>) attributes {tag = "vision.all_class_non_max_suppression"} {
// CHECK:      te.return %nms_rows_v0, %nms_rows_v1, %nms_rows_v2 : tensor<2x5x2xi64>, tensor<2x5xf32>, tensor<2xi64>
