// RUN: opt-tool %s -p relay-fold-tuples | filecheck %s
// A field of a tuple inside a tuple, read inside a choice.

// CHECK:      func.func @main
// CHECK-NEXT:   %r = relay.if %c -> tensor<4xf32> {
// CHECK-NEXT:     %z = relay.exp %b
// CHECK-NEXT:     relay.yield %z
// CHECK-NEXT:   } else {
// CHECK-NEXT:     relay.yield %b
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %r, %a
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<8xf32>) {
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<4xf32>>
  %u = relay.tuple(%t, %c) : tuple<tuple<tensor<8xf32>, tensor<4xf32>>, tensor<i1>>
  %v = relay.tuple_get_item %u[0] : tuple<tuple<tensor<8xf32>, tensor<4xf32>>, tensor<i1>>
  %x = relay.tuple_get_item %v[0] : tuple<tensor<8xf32>, tensor<4xf32>>
  %r = relay.if %c -> tensor<4xf32> {
    %y = relay.tuple_get_item %v[1] : tuple<tensor<8xf32>, tensor<4xf32>>
    %z = relay.exp %y : tensor<4xf32>
    relay.yield %z : tensor<4xf32>
  } else {
    %y = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>, tensor<4xf32>>
    relay.yield %y : tensor<4xf32>
  }
  return %r, %x : tensor<4xf32>, tensor<8xf32>
}
