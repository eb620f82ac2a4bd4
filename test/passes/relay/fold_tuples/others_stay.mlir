// RUN: opt-tool %s -p relay-fold-tuples | filecheck %s
// A tuple that is returned is kept, one that a choice gives or an argument is cannot be looked into.

// CHECK:      func.func @main
// CHECK-NEXT:   %t = relay.tuple(%a, %a)
// CHECK-NEXT:   %r = relay.if %c
// CHECK:        %x = relay.tuple_get_item %r[0]
// CHECK-NEXT:   func.return %x, %t
func.func @main(%a: tensor<8xf32>, %p: tuple<tensor<8xf32>, tensor<8xf32>>, %c: tensor<i1>)
    -> (tensor<8xf32>, tuple<tensor<8xf32>, tensor<8xf32>>) {
  %t = relay.tuple(%a, %a) : tuple<tensor<8xf32>, tensor<8xf32>>
  %r = relay.if %c -> tuple<tensor<8xf32>, tensor<8xf32>> {
    relay.yield %t : tuple<tensor<8xf32>, tensor<8xf32>>
  } else {
    relay.yield %p : tuple<tensor<8xf32>, tensor<8xf32>>
  }
  %x = relay.tuple_get_item %r[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  return %x, %t : tensor<8xf32>, tuple<tensor<8xf32>, tensor<8xf32>>
}
