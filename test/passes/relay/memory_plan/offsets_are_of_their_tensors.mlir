// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc,relay-manifest-lifetimes,relay-memory-plan --print-debuginfo | filecheck %s
// The place of a tensor in the storage comes from the line of what it is computed by.

// CHECK:      [[B:%.*]] = relay.constant dense<64> : tensor<i64> loc("second")
// CHECK-NEXT: %b = relay.memory.alloc_tensor %storage, [[B]], {{.*}} loc("second")
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = relay.nn.softmax %x : tensor<16xf32> loc("first")
  %b = relay.nn.softmax %a : tensor<16xf32> loc("second")
  %c = relay.nn.softmax %b : tensor<16xf32> loc("third")
  return %c : tensor<16xf32>
}
