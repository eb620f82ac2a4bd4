// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// The smaller pattern would fit inside the function of the larger one; it is found behind it, where the function is an input.

pdl.pattern @all : benefit(1) {
  %x = operand
  %0 = operation "relay.exp"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.nn.relu"(%1 : !pdl.value)
  %3 = result 0 of %2
  %4 = operation "relay.abs"(%3 : !pdl.value)
  rewrite %4 with "mine.all"
}
pdl.pattern @pair : benefit(1) {
  %x = operand
  %0 = operation "relay.nn.relu"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.abs"(%1 : !pdl.value)
  rewrite %2 with "mine.pair"
}
// CHECK:      %[[F:[0-9]+]] = relay.fn {{.*}}Composite = "mine.all"
// CHECK-NEXT:   relay.exp %FunctionVar
// CHECK-NEXT:   relay.nn.relu
// CHECK-NEXT:   relay.abs
// CHECK-NEXT:   relay.return
// CHECK:      %c = relay.call %[[F]](%x)
// CHECK-NEXT: %[[G:[0-9]+]] = relay.fn {{.*}}Composite = "mine.pair"
// CHECK-NEXT:   relay.nn.relu %FunctionVar
// CHECK-NEXT:   relay.abs
// CHECK:      relay.call %[[G]](%c)
// CHECK-NOT:  Composite
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x : tensor<4xf32>
  %b = relay.nn.relu %a : tensor<4xf32>
  %c = relay.abs %b : tensor<4xf32>
  %d = relay.nn.relu %c : tensor<4xf32>
  %e = relay.abs %d : tensor<4xf32>
  return %e : tensor<4xf32>
}
