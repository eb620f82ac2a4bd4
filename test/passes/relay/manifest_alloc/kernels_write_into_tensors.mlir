// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc | filecheck %s
// Each result gets a storage; numbers that are needed again are the same constant.

// CHECK-LABEL: func.func @main
// CHECK:      [[SHAPE:%.*]] = relay.constant dense<[2, 4]> : tensor<2xi64>
// CHECK-NEXT: [[SIZE:%.*]] = relay.constant dense<32> : tensor<i64>
// CHECK-NEXT: [[ALIGN:%.*]] = relay.constant dense<64> : tensor<i64>
// CHECK-NEXT: %storage = relay.memory.alloc_storage [[SIZE]], [[SHAPE]], [[ALIGN]] : tensor<2xi64>
// CHECK-NEXT: [[ZERO:%.*]] = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %a = relay.memory.alloc_tensor %storage, [[ZERO]], [[SHAPE]] : (tensor<2xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: relay.vm.invoke_tvm_op %fused_nn_dense(%x, %w) into (%a) : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
// CHECK:      %storage_1 = relay.memory.alloc_storage [[SIZE]], [[SHAPE]], [[ALIGN]] : tensor<2xi64>
// CHECK-NEXT: %b = relay.memory.alloc_tensor %storage_1, [[ZERO]], [[SHAPE]] : (tensor<2xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: relay.vm.invoke_tvm_op %fused_nn_softmax(%a) into (%b)
// CHECK-NEXT: func.return %b
func.func @main(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %a = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %b = relay.nn.softmax %a : tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}
