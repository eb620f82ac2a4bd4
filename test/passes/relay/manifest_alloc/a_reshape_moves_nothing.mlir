// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc | filecheck %s
// A kernel that only reshapes is no call; one that does more is.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[SHAPE:%.*]] = relay.constant dense<[4, 2]> : tensor<2xi64>
// CHECK-NEXT: %b = relay.vm.reshape_tensor %x, [[SHAPE]] {newshape = [4, 2]} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<4x2xf32>
// CHECK:      relay.vm.invoke_tvm_op %fused_nn_softmax(%b) into (%c)
// CHECK:      relay.vm.invoke_tvm_op %fused_reshape_tanh(%c) into (%e)
func.func @main(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %a = relay.reshape %x {newshape = [8]} : (tensor<2x4xf32>) -> tensor<8xf32>
  %b = relay.reshape %a {newshape = [4, 2]} : (tensor<8xf32>) -> tensor<4x2xf32>
  %c = relay.nn.softmax %b : tensor<4x2xf32>
  %d = relay.reshape %c {newshape = [8]} : (tensor<4x2xf32>) -> tensor<8xf32>
  %e = relay.tanh %d : tensor<8xf32>
  return %e : tensor<8xf32>
}
