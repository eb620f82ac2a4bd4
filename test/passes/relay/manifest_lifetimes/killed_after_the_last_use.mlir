// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc,relay-manifest-lifetimes | filecheck %s
// Also when it is used under another shape, or inside of a choice.

// CHECK:      relay.vm.invoke_tvm_op %fused_nn_softmax(%x) into (%a)
// CHECK:      %b = relay.vm.reshape_tensor %a,
// CHECK:      relay.vm.invoke_tvm_op %fused_nn_softmax_1(%b) into (%d)
// CHECK-NEXT: relay.memory.kill %storage : !relay.storage
// CHECK-NEXT: %e = relay.if
// CHECK:        relay.vm.invoke_tvm_op %fused_nn_softmax_2(%d)
// CHECK:      relay.memory.kill %storage_1 : !relay.storage
// CHECK-NEXT: func.return %e
func.func @main(%x: tensor<2x4xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : tensor<2x4xf32>
  %b = relay.reshape %a {newshape = [8]} : (tensor<2x4xf32>) -> tensor<8xf32>
  %d = relay.nn.softmax %b : tensor<8xf32>
  %e = relay.if %c -> tensor<8xf32> {
    %f = relay.nn.softmax %d : tensor<8xf32>
    relay.yield %f : tensor<8xf32>
  } else {
    %g = relay.constant dense<1.0> : tensor<8xf32>
    relay.yield %g : tensor<8xf32>
  }
  return %e : tensor<8xf32>
}
