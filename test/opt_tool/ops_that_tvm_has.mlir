// RUN: opt-tool %s --split-input-file --verify-diagnostics
// Steps of TVM's own lowering are no ops here: what there is for them is said.

func.func @main(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{unknown operation 'relay.vm.shape_of'; instead there is relay.shape_of}}
  %s = relay.vm.shape_of %x : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}
// -----
// expected-error@+1 {{unknown operation 'relay.memory.alloc_storage'; nothing: memory is planned at the tir level (tir-plan-memory)}}
"relay.memory.alloc_storage"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.call_lowered'; instead there is a call of the function itself}}
"relay.call_lowered"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.vm.reshape_tensor'; instead there is relay.reshape}}
"relay.vm.reshape_tensor"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.vm.invoke_tvm_op'; instead there is a call of the function itself}}
"relay.vm.invoke_tvm_op"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.debug'; instead there is relay.create_executor}}
"relay.debug"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.ad'; did you mean 'relay.add'}}
"relay.ad"() : () -> ()
