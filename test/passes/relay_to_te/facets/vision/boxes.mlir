// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vision_get_valid_counts(%0: tensor<2x5x6xf64>, %1: tensor<f64>) -> (tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>) {
  %2, %3, %4 = relay.vision.get_valid_counts %0, %1 : (tensor<2x5x6xf64>, tensor<f64>) -> (tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>)
  func.return %2, %3, %4 : tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>
}
// CHECK:      te.func @fused_vision_get_valid_counts(%p0: tensor<2x5x6xf64>, %p1: tensor<f64>) -> (tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>) {
// CHECK:      %valid_counts_v0, %valid_counts_v1, %valid_counts_v2 = te.extern "valid_counts" (%p0_buffer = %p0, %p1_buffer = %p1) -> (%out0, %out1, %out2) : (tensor<2x5x6xf64>, tensor<f64>) -> (tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>) attributes {tag = "vision.get_valid_counts"} {
// CHECK:      te.return %valid_counts_v0, %valid_counts_v1, %valid_counts_v2 : tensor<2xi32>, tensor<2x5x6xf64>, tensor<2x5xi32>

func.func @vision_non_max_suppression(%0: tensor<2x9x6xf32>, %1: tensor<2xi32>, %2: tensor<2x9xi32>, %3: tensor<i32>, %4: tensor<f32>) -> (tensor<2x9xi32>, tensor<2x1xi32>) {
  %5, %6 = relay.vision.non_max_suppression %0, %1, %2, %3, %4 : (tensor<2x9x6xf32>, tensor<2xi32>, tensor<2x9xi32>, tensor<i32>, tensor<f32>) -> (tensor<2x9xi32>, tensor<2x1xi32>)
  func.return %5, %6 : tensor<2x9xi32>, tensor<2x1xi32>
}
// CHECK:      te.func @fused_vision_non_max_suppression(%p0: tensor<2x9x6xf32>, %p1: tensor<2xi32>, %p2: tensor<2x9xi32>, %p3: tensor<i32>, %p4: tensor<f32>) -> (tensor<2x9xi32>, tensor<2x1xi32>) {
// CHECK:      %nms_keys = te.compute "nms_keys" [2, 9] (%n, %j) : tensor<2x9xf32> attributes {tag = "vision.non_max_suppression"} {
// CHECK:      %nms_order = te.extern "nms_order" (%nms_keys_buffer = %nms_keys) -> (%out0) : (tensor<2x9xf32>) -> tensor<2x9xi32> attributes {tag = "vision.non_max_suppression"} {
// CHECK:      %nms_rows_v0, %nms_rows_v1 = te.extern "nms_rows" (%p0_buffer = %p0, %p1_buffer = %p1, %nms_order_buffer = %nms_order, %p3_buffer = %p3, %p4_buffer = %p4) -> (%out0, %out1) : (tensor<2x9x6xf32>, tensor<2xi32>, tensor<2x9xi32>, tensor<i32>, tensor<f32>) -> (tensor<2x9x6xf32>, tensor<2x9xi32>) attributes {tag = "vision.non_max_suppression"} {
// CHECK:      %nms_places_v0, %nms_places_v1 = te.extern "nms_places" (%nms_rows_v1_buffer = %nms_rows_v1, %p2_buffer = %p2) -> (%out0, %out1) : (tensor<2x9xi32>, tensor<2x9xi32>) -> (tensor<2x9xi32>, tensor<2x1xi32>) attributes {tag = "vision.non_max_suppression"} {
// CHECK:      te.return %nms_places_v0, %nms_places_v1 : tensor<2x9xi32>, tensor<2x1xi32>
