// RUN: opt-tool %s -p "relay-vmap{size=2}" | filecheck %s
// RUN: not opt-tool %s -p "relay-vmap{size=65}" 2>&1 | filecheck %s --check-prefix=MANY
// An op without a rule is done for each place, where there are few.

// CHECK-COUNT-2: relay.invert_permutation
// CHECK-NOT:     relay.invert_permutation
// CHECK:         relay.stack

// MANY: one_by_one.mlir:11:8: error: relay.invert_permutation has no rule for an axis in front
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  %y = relay.invert_permutation %x : tensor<3xi32>
  return %y : tensor<3xi32>
}
