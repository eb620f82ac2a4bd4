// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// All that comes of %a outside the match leads back to its root: the function has a copy of it.

pdl.pattern @exp_multiply : benefit(1) {
  %x = operand
  %y = operand
  %0 = operation "relay.exp"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.multiply"(%1, %y : !pdl.value, !pdl.value)
  rewrite %2 with "mine.exp_multiply"
}
// CHECK:      %a = relay.exp %x
// CHECK-NEXT: %s = relay.sigmoid %a
// CHECK-NEXT: %[[F:[0-9]+]] = relay.fn (%FunctionVar: tensor<8xf32>, %FunctionVar_1: tensor<8xf32>)
// CHECK-NEXT:   %[[A:[a-z0-9_]+]] = relay.exp %FunctionVar
// CHECK-NEXT:   relay.multiply %[[A]], %FunctionVar_1
// CHECK:      relay.call %[[F]](%x, %s)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %s = relay.sigmoid %a : tensor<8xf32>
  %m = relay.multiply %a, %s : tensor<8xf32>
  return %m : tensor<8xf32>
}
