// RUN: opt-tool %s -p relay-memory-plan | filecheck %s
// One storage is not moved, nor is one of a size that only the run knows.

// CHECK-NOT: uint8
// CHECK-COUNT-2: relay.memory.kill
func.func @main(%x: tensor<8xf32>, %n: tensor<i64>, %e: tensor<1xi64>) {
  %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %size = relay.constant dense<32> : tensor<i64>
  %zero = relay.constant dense<0> : tensor<i64>
  %s = relay.memory.alloc_storage %size, %e, %size : tensor<1xi64>
  %t = relay.memory.alloc_tensor %s, %zero, %e : (tensor<1xi64>) -> tensor<8xf32>
  relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<8xf32>) -> tensor<8xf32>
  relay.memory.kill %s : !relay.storage
  %u = relay.memory.alloc_storage %n, %e, %size : tensor<1xi64>
  %v = relay.memory.alloc_tensor %u, %zero, %e : (tensor<1xi64>) -> tensor<8xf32>
  relay.vm.invoke_tvm_op %f(%x) into (%v) : (tensor<8xf32>) -> tensor<8xf32>
  relay.memory.kill %u : !relay.storage
  return
}
