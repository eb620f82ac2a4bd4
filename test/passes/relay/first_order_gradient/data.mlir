// RUN: opt-tool %s -p relay-first-order-gradient --verify-roundtrip | filecheck %s
// The gradient of data is data of its type and its constructors. A match gives the gradient of what it took apart, with
// zeros for what it did not look at; they, and sums, are functions of the module.

// CHECK:      func.func @main(%l: !relay.adt<@List, tensor<f32>>) -> (tensor<f32>, !relay.adt<@List, tensor<f32>>) {
// CHECK-NEXT:   %r, %pullback = relay.match %l : !relay.adt<@List, tensor<f32>> -> (tensor<f32>, (tensor<f32>) -> !relay.adt<@List, tensor<f32>>) {
// CHECK-NEXT:     case Cons(%a: tensor<f32>, %0: !relay.adt<@List, tensor<f32>>) {
// CHECK-NEXT:       %e = relay.exp %a
// CHECK-NEXT:       relay.fn captures(%e_1 = %e : tensor<f32>, %{{.*}} = %0 : !relay.adt<@List, tensor<f32>>) (%grad: tensor<f32>)
// CHECK-NEXT:         %[[A:.*]] = relay.multiply %grad, %e_1
// CHECK-NEXT:         %[[T:.*]] = func.call @zeros_like_List
// CHECK-NEXT:         %[[L:.*]] = relay.construct Cons(%[[A]], %[[T]])
// CHECK-NEXT:         relay.return %[[L]]
// CHECK:      %grad_l = relay.call %pullback
// CHECK-NEXT: func.return %r, %grad_l
// CHECK:      func.func private @zeros_like_List
// CHECK-NEXT:   relay.match
// CHECK-NEXT:     case Nil
// CHECK:          case Cons
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @main(%l: !relay.adt<@List, tensor<f32>>) -> tensor<f32> {
  %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    case Cons(%a : tensor<f32>, _) {
      %e = relay.exp %a : tensor<f32>
      relay.yield %e : tensor<f32>
    }
    case Nil {
      %z = relay.constant dense<0.0> : tensor<f32>
      relay.yield %z : tensor<f32>
    }
  }
  return %r : tensor<f32>
}
