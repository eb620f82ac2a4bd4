// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// A choice gives the pullback of the region taken, which captures what that computed.

// CHECK:      %r, %pullback = relay.if %c -> (tensor<f32>, (tensor<f32>) -> (tensor<f32>, tensor<f32>)) {
// CHECK-NEXT:   %p = relay.multiply %x, %y
// CHECK-NEXT:   %pullback_1 = relay.fn captures(%y_1 = %y : tensor<f32>, %x_1 = %x : tensor<f32>) (%grad: tensor<f32>)
// CHECK-NEXT:     %0 = relay.multiply %grad, %y_1
// CHECK-NEXT:     %1 = relay.multiply %grad, %x_1
// CHECK-NEXT:     relay.return %0, %1
// CHECK-NEXT:   }
// CHECK-NEXT:   relay.yield %p, %pullback_1
// CHECK-NEXT: } else {
// CHECK-NEXT:   %e = relay.exp %x
// CHECK-NEXT:   relay.fn captures(%e_1 = %e : tensor<f32>) (%grad: tensor<f32>)
// CHECK:        relay.yield %e
// CHECK-NEXT: }
// CHECK-NEXT: %0 = relay.ones_like %r
// CHECK-NEXT: %grad_x, %grad_y = relay.call %pullback(%0)
// CHECK-NEXT: %grad_c = relay.zeros_like %c
// CHECK-NEXT: return %r, %grad_c, %grad_x, %grad_y
func.func @main(%c: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = relay.if %c -> tensor<f32> {
    %p = relay.multiply %x, %y : tensor<f32>
    relay.yield %p : tensor<f32>
  } else {
    %e = relay.exp %x : tensor<f32>
    relay.yield %e : tensor<f32>
  }
  return %r : tensor<f32>
}
