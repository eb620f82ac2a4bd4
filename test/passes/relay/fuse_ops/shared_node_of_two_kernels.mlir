// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// %a is needed by two kernels that never meet: it is computed once, by one of its own.

// CHECK:      %fused_exp = relay.fn
// CHECK:      %a = relay.call %fused_exp(%x)
// CHECK:      %fused_nn_dense = relay.fn
// CHECK:      %b = relay.call %fused_nn_dense(%a, %w)
// CHECK:      %fused_tanh = relay.fn
// CHECK:      %c = relay.call %fused_tanh(%a)
// CHECK-NEXT: func.return %b, %c
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = relay.exp %x : tensor<4x8xf32>
  %b = relay.nn.dense %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = relay.tanh %a : tensor<4x8xf32>
  return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}
