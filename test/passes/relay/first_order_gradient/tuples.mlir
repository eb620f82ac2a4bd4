// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// The gradient of a tuple is a tuple of its type, in which integers are zeros. A tuple on the way leaves no trace.

// CHECK:      func.func @main(%t: tuple<tensor<f32>, tensor<i32>, tensor<f32>>) -> (tensor<f32>, tuple<tensor<f32>, tensor<i32>, tensor<f32>>) {
// CHECK:        %p = relay.multiply %c, %b
// CHECK:        %0 = relay.ones_like %p
// CHECK-NEXT:   %1 = relay.multiply %0, %b
// CHECK-NEXT:   %2 = relay.multiply %0, %c
// CHECK-NEXT:   %3 = relay.tuple_get_item %t[1]
// CHECK-NEXT:   %4 = relay.zeros_like %3
// CHECK-NEXT:   %grad_t = relay.tuple(%1, %4, %2)
// CHECK-NEXT:   return %p, %grad_t
func.func @main(%t: tuple<tensor<f32>, tensor<i32>, tensor<f32>>) -> tensor<f32> {
  %a = relay.tuple_get_item %t[0] : tuple<tensor<f32>, tensor<i32>, tensor<f32>>
  %b = relay.tuple_get_item %t[2] : tuple<tensor<f32>, tensor<i32>, tensor<f32>>
  %u = relay.tuple(%b, %a) : tuple<tensor<f32>, tensor<f32>>
  %c = relay.tuple_get_item %u[1] : tuple<tensor<f32>, tensor<f32>>
  %p = relay.multiply %c, %b : tensor<f32>
  return %p : tensor<f32>
}
