// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// The patterns are the file's own; the larger one stands first and has priority.

pdl.pattern @dense_bias_relu : benefit(1) {
  %x = operand
  %w = operand
  %b = operation "relay.constant"
  %c = result 0 of %b
  %0 = operation "relay.nn.dense"(%x, %w : !pdl.value, !pdl.value)
  %1 = result 0 of %0
  %2 = operation "relay.nn.bias_add"(%1, %c : !pdl.value, !pdl.value)
  %3 = result 0 of %2
  %4 = operation "relay.nn.relu"(%3 : !pdl.value)
  rewrite %4 with "mine.dense_bias_relu"
}
pdl.pattern @dense : benefit(1) {
  %x = operand
  %w = operand
  %0 = operation "relay.nn.dense"(%x, %w : !pdl.value, !pdl.value)
  rewrite %0 with "mine.dense"
}

// CHECK-NOT:  pdl.pattern
// CHECK:      %[[F:[0-9]+]] = relay.fn (%FunctionVar: tensor<2x4xf32>, %FunctionVar_1: tensor<8x4xf32>) -> tensor<2x8xf32>
// CHECK-SAME:   {Composite = "mine.dense_bias_relu", PartitionedFromPattern = "nn.dense_nn.bias_add_nn.relu_"}
// CHECK-NEXT:   relay.constant dense<1.000000e+00>
// CHECK-NEXT:   relay.nn.dense %FunctionVar, %FunctionVar_1
// CHECK-NEXT:   relay.nn.bias_add
// CHECK-NEXT:   relay.nn.relu
// CHECK-NEXT:   relay.return
// CHECK:      %r = relay.call %[[F]](%x, %w)
// CHECK:      relay.fn
// CHECK-SAME:   {Composite = "mine.dense", PartitionedFromPattern = "nn.dense_"}
// CHECK:      relay.call {{.*}}(%r, %v)
func.func @main(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>, %v: tensor<3x8xf32>) -> tensor<2x3xf32> {
  %b = relay.constant dense<1.0> : tensor<8xf32>
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %e = relay.nn.bias_add %d, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %r = relay.nn.relu %e : tensor<2x8xf32>
  %o = relay.nn.dense %r, %v : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<2x3xf32>
  return %o : tensor<2x3xf32>
}
