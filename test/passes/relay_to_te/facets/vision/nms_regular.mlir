// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @vision_regular_non_max_suppression(%0: tensor<2x7x4xf32>, %1: tensor<2x7x2xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>) {
  %2, %3, %4, %5 = relay.vision.regular_non_max_suppression %0, %1 {iou_threshold = 0.2, max_detections = 4, max_detections_per_class = 3, num_classes = 2, score_threshold = 0.3} : (tensor<2x7x4xf32>, tensor<2x7x2xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>)
  func.return %2, %3, %4, %5 : tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>
}
// CHECK:      te.func @fused_vision_regular_non_max_suppression(%p0: tensor<2x7x4xf32>, %p1: tensor<2x7x2xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>) {
// CHECK:      %nms_scores = te.compute "nms_scores" [2, 2, 7] (%n, %c, %b) : tensor<2x2x7xf32> attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      %nms_order = te.extern "nms_order" (%nms_scores_buffer = %nms_scores) -> (%out0) : (tensor<2x2x7xf32>) -> tensor<2x2x7xi32> attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      %nms_chosen_v0, %nms_chosen_v1 = te.extern "nms_chosen" (%p0_buffer = %p0, %nms_scores_buffer = %nms_scores, %nms_order_buffer = %nms_order) -> (%out0, %out1) : (tensor<2x7x4xf32>, tensor<2x2x7xf32>, tensor<2x2x7xi32>) -> (tensor<2x2x7xi32>, tensor<2x2xi32>) attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      %nms_chosen_scores = te.compute "nms_chosen_scores" [2, 14] (%n, %k) : tensor<2x14xf32> attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      %nms_best = te.extern "nms_best" (%nms_chosen_scores_buffer = %nms_chosen_scores) -> (%out0) : (tensor<2x14xf32>) -> tensor<2x14xi32> attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      %nms_detections_v0, %nms_detections_v1, %nms_detections_v2, %nms_detections_v3 = te.extern "nms_detections" (%p0_buffer = %p0, %nms_chosen_v0_buffer = %nms_chosen_v0, %nms_chosen_v1_buffer = %nms_chosen_v1, %nms_chosen_scores_buffer = %nms_chosen_scores, %nms_best_buffer = %nms_best) -> (%out0, %out1, %out2, %out3) : (tensor<2x7x4xf32>, tensor<2x2x7xi32>, tensor<2x2xi32>, tensor<2x14xf32>, tensor<2x14xi32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>) attributes {tag = "vision.regular_non_max_suppression"} {
// CHECK:      te.return %nms_detections_v0, %nms_detections_v1, %nms_detections_v2, %nms_detections_v3 : tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xi32>
