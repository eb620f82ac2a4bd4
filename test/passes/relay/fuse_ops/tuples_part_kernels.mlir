// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// What goes through a tuple is not fused; relay-fold-tuples, which comes before, leaves none that could go.

// CHECK:      %a = relay.call %fused_exp(%x)
// CHECK:      %b = relay.call %fused_abs(%x)
// CHECK-NEXT: %t = relay.tuple(%a, %b)
// CHECK-NEXT: %c = relay.tuple_get_item %t[0]
// CHECK:      relay.call %fused_tanh(%c)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %x : tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  %c = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  %d = relay.tanh %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
