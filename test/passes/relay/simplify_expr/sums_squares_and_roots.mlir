// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK:      [[TWO:%.*]] = relay.constant dense<2.000000e+00>
// CHECK-NEXT: %s = relay.multiply %x, [[TWO]]
// CHECK-NEXT: [[R:%.*]] = relay.rsqrt %x
// CHECK-NEXT: %d = relay.multiply %c, [[R]]
// CHECK-NEXT: [[T:%.*]] = relay.add %x, %y
// CHECK-NEXT: %b = relay.multiply [[T]], [[T]]
// CHECK-NEXT: func.return
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = relay.constant dense<3.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %s = relay.add %x, %x : tensor<8xf32>
  %q = relay.sqrt %x : tensor<8xf32>
  %d = relay.divide %c, %q : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %xx = relay.multiply %x, %x : tensor<8xf32>
  %xy = relay.multiply %x, %y : tensor<8xf32>
  %yy = relay.multiply %y, %y : tensor<8xf32>
  %xy2 = relay.multiply %xy, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %u = relay.add %xx, %xy2 : tensor<8xf32>
  %b = relay.add %u, %yy : tensor<8xf32>
  return %s, %d, %b : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
