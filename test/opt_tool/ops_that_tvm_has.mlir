// RUN: opt-tool %s --split-input-file --verify-diagnostics
// What there is for an op of TVM's that is none here is said.

func.func @main(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{unknown operation 'relay.nn.fifo_buffer'; instead there is relay.concatenate and relay.strided_slice}}
  %s = relay.nn.fifo_buffer %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// expected-error@+1 {{unknown operation 'relay.nn.sparse_add'; instead there is relay.sparse_to_dense and relay.add}}
"relay.nn.sparse_add"() : () -> ()
// -----
// expected-error@+1 {{unknown operation 'relay.ad'; did you mean 'relay.add'}}
"relay.ad"() : () -> ()
