// RUN: opt-tool %s -p relay-first-order-gradient{nested=true} | filecheck %s
// TVM's form: the result, and a tuple of the gradients.

// CHECK:      func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<3xf32>, tuple<tensor<3xf32>, tensor<f32>>)
// CHECK:        %[[T:.*]] = relay.tuple(%grad_x, %grad_y)
// CHECK-NEXT:   return %p, %[[T]]
func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<3xf32> {
  %p = relay.multiply %x, %y : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %p : tensor<3xf32>
}
