// RUN: opt-tool %s -p relay-first-order-gradient --verify-roundtrip | filecheck %s
// Lists of numbers and lists of pairs: each has zeros of its own, by a name of its own.

// CHECK:      func.call @zeros_like_List(%{{.*}}) : (!relay.adt<@List, tensor<f32>>)
// CHECK:      func.call @zeros_like_List_(%{{.*}}) : (!relay.adt<@List, tensor<2xf32>>)
// CHECK:      func.func private @zeros_like_List(%{{.*}}: !relay.adt<@List, tensor<f32>>)
// CHECK:      func.func private @zeros_like_List_(%{{.*}}: !relay.adt<@List, tensor<2xf32>>)
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @main(%l: !relay.adt<@List, tensor<f32>>, %p: !relay.adt<@List, tensor<2xf32>>) -> tensor<2xf32> {
  %r = relay.match partial %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    case Cons(%a : tensor<f32>, _) {
      relay.yield %a : tensor<f32>
    }
  }
  %s = relay.match partial %p : !relay.adt<@List, tensor<2xf32>> -> tensor<2xf32> {
    case Cons(%b : tensor<2xf32>, _) {
      relay.yield %b : tensor<2xf32>
    }
  }
  %t = relay.multiply %s, %r : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %t : tensor<2xf32>
}
