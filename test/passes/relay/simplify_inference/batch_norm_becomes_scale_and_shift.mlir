// RUN: opt-tool %s -p relay-simplify-inference | filecheck %s

// CHECK:      [[E:%.*]] = relay.constant dense<1.000000e-03> : tensor<f32>
// CHECK-NEXT: [[V:%.*]] = relay.add %v, [[E]]
// CHECK-NEXT: [[D:%.*]] = relay.sqrt [[V]] : tensor<8xf32>
// CHECK-NEXT: [[S:%.*]] = relay.divide %g, [[D]] : tensor<8xf32>
// CHECK-NEXT: [[S3:%.*]] = relay.expand_dims [[S]] {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
// CHECK-NEXT: [[X:%.*]] = relay.multiply %x, [[S3]]
// CHECK:      [[T:%.*]] = relay.subtract %b, {{%.*}} : tensor<8xf32>
// CHECK:      %y = relay.add [[X]], {{%.*}} : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
func.func @main(%x: tensor<1x8x6x6xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>)
    -> tensor<1x8x6x6xf32> {
  %y = relay.nn.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-3}
    : (tensor<1x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
