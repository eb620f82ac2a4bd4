// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s

// CHECK: %fused_multiply_sum = relay.fn
// CHECK: %fused_sqrt = relay.fn
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %a = relay.multiply %x, %x : tensor<4x8xf32>
  %s = relay.sum %a {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = relay.sqrt %s : tensor<4xf32>
  return %y : tensor<4xf32>
}
