// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.nn.max_pool2d %x {layout = "NHWC", padding = [0, 0, 0, 0], pool_size = [2, 2], strides = [2, 2]} : (tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: func.return %y : tensor<1x2x2x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<1x4x4x3xf32>, tensor<f32>) -> tensor<1x2x2x3xf32>
  return %y : tensor<1x2x2x3xf32>
}
