// RUN: opt-tool %s -p 'relay-merge-composite{patterns=@abs_relu}' | filecheck %s
// %a leaves the function: it would have to be a second result. Nothing is merged.

pdl.pattern @abs_relu : benefit(1) {
  %x = operand
  %0 = operation "relay.abs"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.nn.relu"(%1 : !pdl.value)
  rewrite %2 with "mine.abs_relu"
}
// CHECK-NOT:  relay.fn
// CHECK:      %a = relay.abs %x
// CHECK-NEXT: %r = relay.nn.relu %a
// CHECK-NEXT: func.return %r, %a
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.abs %x : tensor<8xf32>
  %r = relay.nn.relu %a : tensor<8xf32>
  return %r, %a : tensor<8xf32>, tensor<8xf32>
}
