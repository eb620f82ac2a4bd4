// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc | filecheck %s
// Extents that are unknown are those of an operand that has the same names; without one the call stays.

// CHECK-LABEL: func.func @main
// CHECK:      [[SHAPE:%.*]] = relay.vm.shape_of %x : (tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<2xi64>
// CHECK-NEXT: [[COUNT:%.*]] = relay.prod [[SHAPE]] : (tensor<2xi64>) -> tensor<i64>
// CHECK-NEXT: [[WIDTH:%.*]] = relay.constant dense<4> : tensor<i64>
// CHECK-NEXT: [[SIZE:%.*]] = relay.multiply [[COUNT]], [[WIDTH]] : tensor<i64>
// CHECK:      %storage = relay.memory.alloc_storage [[SIZE]], [[SHAPE]], {{%.*}} : tensor<2xi64>
// CHECK:      relay.vm.invoke_tvm_op %fused_nn_softmax(%x) into (%a)
// CHECK:      %b = relay.call %fused_sum(%a)
func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?xf32, #relay.dims<n>> {
  %a = relay.nn.softmax %x : tensor<?x8xf32, #relay.dims<n, _>>
  %b = relay.sum %a {axis = [1]} : (tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?xf32, #relay.dims<n>>
  return %b : tensor<?xf32, #relay.dims<n>>
}

// An extent without a name may be another one than one without a name.
// CHECK-LABEL: func.func @unnamed
// CHECK-NOT:  relay.vm.invoke_tvm_op
// CHECK:      %a = relay.call %fused_nn_relu(%x)
func.func @unnamed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = relay.nn.relu %x : tensor<?xf32>
  return %a : tensor<?xf32>
}
