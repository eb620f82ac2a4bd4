// RUN: opt-tool %s --split-input-file --verify-diagnostics
// What a user of storages and kernels gets wrong.

func.func @f(%n: tensor<i64>, %e: tensor<1xi64>) {
  // expected-error@+1 {{there is no element type 'float33'}}
  %s = relay.memory.alloc_storage %n, %e, %n {dtype = "float33"} : tensor<1xi64>
  return
}
// -----
func.func @f(%n: tensor<i64>, %e: tensor<1xi64>) {
  // expected-error@+1 {{storage is on cpu, not on 'cuda:0'}}
  %s = relay.memory.alloc_storage %n, %e, %n {virtual_device = "cuda:0"} : tensor<1xi64>
  return
}
// -----
func.func @f(%n: tensor<i64>, %e: tensor<1xi64>) {
  %m = relay.constant dense<48> : tensor<i64>
  // expected-error@+1 {{the alignment 48 is no power of two}}
  %s = relay.memory.alloc_storage %n, %e, %m : tensor<1xi64>
  return
}
// -----
func.func @f(%n: tensor<i64>, %e: tensor<1xi64>) {
  %m = relay.constant dense<-1> : tensor<i64>
  // expected-error@+1 {{a storage of -1 bytes}}
  %s = relay.memory.alloc_storage %m, %e, %n : tensor<1xi64>
  return
}
// -----
func.func @f(%s: !relay.storage, %n: tensor<i64>, %e: tensor<1xi64>) {
  // expected-error@+1 {{a tensor of float32 is no tensor<8xi8>}}
  %t = relay.memory.alloc_tensor %s, %n, %e : (tensor<1xi64>) -> tensor<8xi8>
  return
}
// -----
func.func @f(%s: !relay.storage, %n: tensor<i64>, %e: tensor<1xi64>) {
  // expected-error@+1 {{the shape is one vector of 2 extents for tensor<2x4xf32>, got tensor<1xi64>}}
  %t = relay.memory.alloc_tensor %s, %n, %e : (tensor<1xi64>) -> tensor<2x4xf32>
  return
}
// -----
func.func @f(%s: !relay.storage, %n: tensor<i64>) {
  %e = relay.constant dense<7> : tensor<1xi64>
  // expected-error@+1 {{the shape [7] is not that of tensor<8xf32>}}
  %t = relay.memory.alloc_tensor %s, %n, %e : (tensor<1xi64>) -> tensor<8xf32>
  return
}
// -----
func.func @f(%s: !relay.storage, %n: tensor<i64>, %e: tensor<1xi64>) {
  // expected-error@+1 {{assert_shape [9] is not that of tensor<8xf32>}}
  %t = relay.memory.alloc_tensor %s, %n, %e {assert_shape = array<i64: 9>} : (tensor<1xi64>) -> tensor<8xf32>
  return
}
// -----
func.func @f(%s: !relay.storage, %e: tensor<1xi64>) {
  %n = relay.constant dense<-4> : tensor<i64>
  // expected-error@+1 {{the offset -4 lies before the storage}}
  %t = relay.memory.alloc_tensor %s, %n, %e : (tensor<1xi64>) -> tensor<8xf32>
  return
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> {
    relay.return %y : tensor<8xf32>
  }
  // expected-error@+1 {{calls a kernel: a relay.fn with the attribute Primitive, or a relay.global}}
  %0 = relay.call_lowered %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>, %z: tensor<8xf32>) {
  %f = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    relay.return %y : tensor<8xf32>
  }
  // expected-error@+1 {{destination 0 is no tensor of relay.memory.alloc_tensor}}
  relay.vm.invoke_tvm_op %f(%x) into (%z) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @f(%x: tensor<8xf32>, %s: !relay.storage, %n: tensor<i64>, %e: tensor<1xi64>) {
  %f = relay.fn (%y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {Primitive = 1 : i64} {
    relay.return %y, %y : tensor<8xf32>, tensor<8xf32>
  }
  %t = relay.memory.alloc_tensor %s, %n, %e : (tensor<1xi64>) -> tensor<8xf32>
  // expected-error@+1 {{destination 1 is a destination already}}
  relay.vm.invoke_tvm_op %f(%x) into (%t, %t) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}
// -----
func.func @f(%x: tensor<8xf32>) {
  %f = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    relay.return %y : tensor<8xf32>
  }
  // expected-error@+1 {{0 destinations but 1 types of them}}
  relay.vm.invoke_tvm_op %f(%x) into () : (tensor<8xf32>) -> tensor<8xf32>
  return
}
