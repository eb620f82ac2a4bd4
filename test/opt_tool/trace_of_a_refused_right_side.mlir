// RUN: opt-tool %s --load %S/inputs/rules_of_two_passes.py -p own-refused --trace-rules 2>&1 | filecheck %s
// A rule that matches and does not fire says why.

// CHECK: rules_of_two_passes.py:17 %y is not rewritten: tensor<4xi32> in the place of tensor<4xf32>
// CHECK: relay.nn.relu
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
