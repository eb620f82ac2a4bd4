// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// A kernel that ends in an op with several results gives them all; what reads one of them is another kernel.

// CHECK:      %fused_exp_split = relay.fn (%p0: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:        relay.return %a, %b
// CHECK:      %a, %b = relay.call %fused_exp_split(%x)
// CHECK:      %c = relay.call %fused_tanh(%a)
// CHECK-NEXT: func.return %c, %b
func.func @main(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = relay.exp %x : tensor<8xf32>
  %a, %b = relay.split %e {indices_or_sections = 2, axis = 0} : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = relay.tanh %a : tensor<4xf32>
  return %c, %b : tensor<4xf32>, tensor<4xf32>
}
