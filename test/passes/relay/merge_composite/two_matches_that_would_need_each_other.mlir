// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// Each match reads what the other's inner value becomes: two functions would be a cycle. Neither is made.

pdl.pattern @exp_add : benefit(1) {
  %x = operand
  %y = operand
  %0 = operation "relay.exp"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.add"(%1, %y : !pdl.value, !pdl.value)
  rewrite %2 with "mine.exp_add"
}
// CHECK:      func.func @main
// CHECK-NOT:  relay.fn
// CHECK:      %c = relay.add %a, %t
// CHECK-NEXT: %d = relay.add %b, %s
// CHECK-NEXT: func.return %c, %d
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = relay.exp %x : tensor<4xf32>
  %b = relay.exp %y : tensor<4xf32>
  %s = relay.tanh %a : tensor<4xf32>
  %t = relay.tanh %b : tensor<4xf32>
  %c = relay.add %a, %t : tensor<4xf32>
  %d = relay.add %b, %s : tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}
