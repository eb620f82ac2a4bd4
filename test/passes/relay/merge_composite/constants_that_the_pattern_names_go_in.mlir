// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// One constant, two matches: each function has its own, on the side where it stood. A product of two inputs is no match.

pdl.pattern @scaled : benefit(1) {
  %x = operand
  %k = operation "relay.constant"
  %c = result 0 of %k
  %0 = operation "relay.multiply"(%x, %c : !pdl.value, !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.nn.relu"(%1 : !pdl.value)
  rewrite %2 with "mine.scaled_relu"
}
// CHECK:      %[[F:[0-9]+]] = relay.fn (%FunctionVar: tensor<4xf32>)
// CHECK-SAME:   {Composite = "mine.scaled_relu", PartitionedFromPattern = "multiply_nn.relu_"}
// CHECK-NEXT:   %c = relay.constant dense<[1.0
// CHECK-NEXT:   relay.multiply %FunctionVar, %c
// CHECK:      relay.call %[[F]](%x)
// CHECK-NEXT: %[[G:[0-9]+]] = relay.fn (%FunctionVar: tensor<4xf32>)
// CHECK-NEXT:   %c = relay.constant dense<[1.0
// CHECK-NEXT:   relay.multiply %c, %FunctionVar
// CHECK:      relay.call %[[G]](%y)
// CHECK-NEXT: relay.multiply %x, %y
// CHECK-NEXT: relay.nn.relu
// CHECK-NOT:  relay.constant
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = relay.multiply %x, %c : tensor<4xf32>
  %b = relay.nn.relu %a : tensor<4xf32>
  %d = relay.multiply %c, %y : tensor<4xf32>
  %e = relay.nn.relu %d : tensor<4xf32>
  %f = relay.multiply %x, %y : tensor<4xf32>
  %g = relay.nn.relu %f : tensor<4xf32>
  return %b, %e, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
