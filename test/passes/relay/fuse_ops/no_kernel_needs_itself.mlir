// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// A diamond with a product on one side: exp and add in one kernel would need what the product makes of exp. The cycle
// is not made: exp stays outside, tanh, which is on no such way, goes in.

// CHECK:      %fused_exp = relay.fn
// CHECK:      %a = relay.call %fused_exp(%x)
// CHECK:      %fused_nn_dense_tanh_add = relay.fn (%p0: tensor<4x8xf32>, %p1: tensor<8x8xf32>)
// CHECK-NEXT:   %b = relay.nn.dense %p0, %p1
// CHECK-NEXT:   %c = relay.tanh %p0
// CHECK-NEXT:   %d = relay.add %b, %c
// CHECK:      relay.call %fused_nn_dense_tanh_add(%a, %w)
// CHECK-NOT:  relay.fn
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = relay.exp %x : tensor<4x8xf32>
  %b = relay.nn.dense %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = relay.tanh %a : tensor<4x8xf32>
  %d = relay.add %b, %c : tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
