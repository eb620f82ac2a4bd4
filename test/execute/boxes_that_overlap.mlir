// RUN: opt-tool %s --verify-roundtrip --run @main | filecheck %s
// A detector's last steps: how many boxes are chosen is known only when the program runs. Boxes 0 and 1 overlap by
// 0.81 of what they cover, the third is elsewhere, the fourth has too low a score.

// CHECK:      rows: int64[2, 3]
// CHECK-NEXT: {{\[\[}}0, 0, 1],
// CHECK-NEXT:  [0, 0, 2]]
// CHECK:      boxes: float32[2, 4]
// CHECK-NEXT: {{\[\[}}0.05, 0.05, 1.  , 1.  ],
// CHECK-NEXT:  [2.  , 2.  , 3.  , 3.  ]]
func.func @main() -> (tensor<?x3xi64> {lamina.name = "rows"}, tensor<?x4xf32> {lamina.name = "boxes"}) {
  %boxes = relay.constant dense<[[[0.0, 0.0, 1.0, 1.0], [0.05, 0.05, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0], [5.0, 5.0, 6.0, 6.0]]]> : tensor<1x4x4xf32>
  %scores = relay.constant dense<[[[0.7, 0.9, 0.6, 0.1]]]> : tensor<1x1x4xf32>
  %most = relay.constant dense<3> : tensor<i64>
  %iou = relay.constant dense<0.5> : tensor<f32>
  %least = relay.constant dense<0.2> : tensor<f32>
  %every, %count = relay.vision.all_class_non_max_suppression %boxes, %scores, %most, %iou, %least : (tensor<1x4x4xf32>, tensor<1x1x4xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<4x3xi64>, tensor<1xi64>)
  %first = relay.constant dense<0> : tensor<1xi64>
  %step = relay.constant dense<1> : tensor<1xi64>
  %rows = relay.dyn.strided_slice %every, %first, %count, %step : (tensor<4x3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xi64>
  %last = relay.constant dense<2> : tensor<i64>
  %places = relay.take %rows, %last {axis = 1} : (tensor<?x3xi64>, tensor<i64>) -> tensor<?xi64>
  %image = relay.squeeze %boxes {axis = [0]} : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  %chosen = relay.take %image, %places {axis = 0} : (tensor<4x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  return %rows, %chosen : tensor<?x3xi64>, tensor<?x4xf32>
}
