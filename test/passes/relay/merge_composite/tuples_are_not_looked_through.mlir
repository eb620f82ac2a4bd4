// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// What is taken from a tuple is not the op that made it, as in TVM; relay-fold-tuples comes before.

pdl.pattern @sum : benefit(1) {
  %x = operand
  %y = operand
  %0 = operation "relay.exp"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.add"(%1, %y : !pdl.value, !pdl.value)
  rewrite %2 with "mine.exp_add"
}
// CHECK:      func.func @main
// CHECK-NEXT: %a = relay.exp %x
// CHECK-NEXT: %t = relay.tuple(%a, %x)
// CHECK-NEXT: %b = relay.tuple_get_item %t[0]
// CHECK-NEXT: %c = relay.add %b, %x
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : tensor<4xf32>
  %t = relay.tuple(%a, %x) : tuple<tensor<4xf32>, tensor<4xf32>>
  %b = relay.tuple_get_item %t[0] : tuple<tensor<4xf32>, tensor<4xf32>>
  %c = relay.add %b, %x : tensor<4xf32>
  return %c : tensor<4xf32>
}
