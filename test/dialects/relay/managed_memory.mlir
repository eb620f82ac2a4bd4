// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// The text of storages, tensors in them, and calls of kernels.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32>, %n: tensor<i64>) -> (tensor<16xf32>, tensor<2x8xf32>) {
  %f = relay.fn (%a: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<2x8xf32>
    relay.return %b : tensor<2x8xf32>
  }
  // CHECK: %shape = relay.vm.shape_of %x : (tensor<2x8xf32>) -> tensor<2xi64>
  %shape = relay.vm.shape_of %x : (tensor<2x8xf32>) -> tensor<2xi64>
  // CHECK-NEXT: %s = relay.memory.alloc_storage %n, %shape, %n {dtype = "int8", virtual_device = "cpu:0"} : tensor<2xi64>
  %s = relay.memory.alloc_storage %n, %shape, %n {dtype = "int8", virtual_device = "cpu:0"} : tensor<2xi64>
  // CHECK-NEXT: %t = relay.memory.alloc_tensor %s, %n, %shape {const_shape = array<i64: 2, 8>} : (tensor<2xi64>) -> tensor<2x8xf32>
  %t = relay.memory.alloc_tensor %s, %n, %shape {dtype = "float32", const_shape = array<i64: 2, 8>} : (tensor<2xi64>) -> tensor<2x8xf32>
  // CHECK-NEXT: relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %y = relay.call_lowered %f(%t) {metadata = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = relay.call_lowered %f(%t) {metadata = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %m = relay.constant dense<16> : tensor<1xi64>
  // CHECK: %z = relay.vm.reshape_tensor %y, %m {newshape = [-1]} : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<16xf32>
  %z = relay.vm.reshape_tensor %y, %m {newshape = [-1]} : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<16xf32>
  // CHECK-NEXT: relay.memory.kill %s : !relay.storage
  relay.memory.kill %s : !relay.storage
  // CHECK-NEXT: %d = relay.debug %y : tensor<2x8xf32>
  %d = relay.debug %y : tensor<2x8xf32>
  // CHECK-NEXT: %e = relay.debug %f {debug_func = "look"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %e = relay.debug %f {debug_func = "look"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %z, %d : tensor<16xf32>, tensor<2x8xf32>
}
