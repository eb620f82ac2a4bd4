// RUN: opt-tool %s -p relay-merge-composite | filecheck %s
// TVM calls the result that is meant a TupleGetItem and the operands of concatenate a Tuple.

pdl.pattern @swap : benefit(1) {
  %x = operand
  %0 = operation "relay.split"(%x : !pdl.value)
  %1 = result 0 of %0
  %2 = result 1 of %0
  %3 = operation "relay.concatenate"(%2, %1 : !pdl.value, !pdl.value)
  rewrite %3 with "mine.swap"
}
// CHECK:      PartitionedFromPattern = "split_TupleGetItem1_TupleGetItem0_Tuple_concatenate_"
// CHECK-NEXT:   %a, %b = relay.split %FunctionVar
// CHECK-NEXT:   %o = relay.concatenate %b, %a
// CHECK:      %k = relay.concatenate %x, %x
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %a, %b = relay.split %x {indices_or_sections = [2], axis = 0} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %o = relay.concatenate %b, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %k = relay.concatenate %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %o, %k : tensor<4xf32>, tensor<8xf32>
}
