// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc,relay-manifest-lifetimes,relay-memory-plan | filecheck %s
// %a is over when %c begins and leaves it its place; %d is returned and has storage of its own.

// CHECK:      [[TOTAL:%.*]] = relay.constant dense<128> : tensor<i64>
// CHECK:      %storage = relay.memory.alloc_storage [[TOTAL]], {{.*}} {dtype = "uint8"} : tensor<1xi64>
// CHECK-NEXT: {{%.*}} = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: [[A:%.*]] = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %a = relay.memory.alloc_tensor %storage, [[A]],
// CHECK:      [[B:%.*]] = relay.constant dense<64> : tensor<i64>
// CHECK-NEXT: %b = relay.memory.alloc_tensor %storage, [[B]],
// CHECK:      [[C:%.*]] = relay.constant dense<0> : tensor<i64>
// CHECK-NEXT: %c = relay.memory.alloc_tensor %storage, [[C]],
// CHECK:      %storage_1 = relay.memory.alloc_storage
// CHECK-NEXT: %d = relay.memory.alloc_tensor %storage_1,
// CHECK-NEXT: relay.vm.invoke_tvm_op %fused_nn_softmax_3(%c) into (%d)
// CHECK-NEXT: relay.memory.kill %storage : !relay.storage
// CHECK-NEXT: func.return %d
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = relay.nn.softmax %x : tensor<16xf32>
  %b = relay.nn.softmax %a : tensor<16xf32>
  %c = relay.nn.softmax %b : tensor<16xf32>
  %d = relay.nn.softmax %c : tensor<16xf32>
  return %d : tensor<16xf32>
}
