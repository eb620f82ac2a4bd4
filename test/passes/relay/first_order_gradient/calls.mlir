// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// A global function is copied with its pullback, for all its calls; a local one gets it in place, and the gradients of
// its captures come from its calls. A function of integers stays.

// CHECK:      func.func @square
// CHECK-NEXT:   relay.multiply %a, %a
// CHECK:      func.func @count
// CHECK:      func.func @main
// CHECK-NEXT:   %n = func.call @count(%k) : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   %f = relay.fn captures(%c = %y : tensor<f32>) (%a: tensor<f32>) -> (tensor<f32>, (tensor<f32>) -> (tensor<f32>, tensor<f32>)) {
// CHECK:        %s, %pullback = func.call @square_with_pullback(%x)
// CHECK-NEXT:   %t, %pullback_1 = func.call @square_with_pullback(%s)
// CHECK-NEXT:   %r, %pullback_2 = relay.call %f(%t)
// CHECK:        %1, %grad_y = relay.call %pullback_2(%0)
// CHECK-NEXT:   %2 = relay.call %pullback_1(%1)
// CHECK-NEXT:   %grad_x = relay.call %pullback(%2)
// CHECK:        func.return %r, %n, %grad_x, %grad_y
// CHECK:      func.func private @square_with_pullback(%a: tensor<f32>) -> (tensor<f32>, (tensor<f32>) -> tensor<f32>) {
// CHECK-NEXT:   %p = relay.multiply %a, %a
// CHECK-NEXT:   %pullback = relay.fn captures(%a_1 = %a : tensor<f32>) (%grad: tensor<f32>) -> tensor<f32>
// CHECK-NOT:  func.func
func.func @square(%a: tensor<f32>) -> tensor<f32> {
  %p = relay.multiply %a, %a : tensor<f32>
  return %p : tensor<f32>
}
func.func @count(%n: tensor<i32>) -> tensor<i32> {
  %m = relay.add %n, %n : tensor<i32>
  return %m : tensor<i32>
}
func.func @main(%x: tensor<f32>, %y: tensor<f32>, %k: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %n = func.call @count(%k) : (tensor<i32>) -> tensor<i32>
  %f = relay.fn captures(%c = %y : tensor<f32>) (%a: tensor<f32>) -> tensor<f32> {
    %p = relay.multiply %a, %c : tensor<f32>
    relay.return %p : tensor<f32>
  }
  %s = func.call @square(%x) : (tensor<f32>) -> tensor<f32>
  %t = func.call @square(%s) : (tensor<f32>) -> tensor<f32>
  %r = relay.call %f(%t) : (tensor<f32>) -> tensor<f32>
  return %r, %n : tensor<f32>, tensor<i32>
}
