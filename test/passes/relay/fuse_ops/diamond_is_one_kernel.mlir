// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// Both ways from %a lead to %d, and all on them is fused.

// CHECK:      %fused_exp_abs_tanh_add = relay.fn (%p0: tensor<8xf32>)
// CHECK-NEXT:   %a = relay.exp %p0
// CHECK-NEXT:   %b = relay.abs %a
// CHECK-NEXT:   %c = relay.tanh %a
// CHECK-NEXT:   %d = relay.add %b, %c
// CHECK-NEXT:   relay.return %d
// CHECK:      %d = relay.call %fused_exp_abs_tanh_add(%x)
// CHECK-NEXT: func.return %d
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %a : tensor<8xf32>
  %c = relay.tanh %a : tensor<8xf32>
  %d = relay.add %b, %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
