// RUN: opt-tool %s -p relay-defunctionalization --split-input-file --verify-diagnostics

// expected-error@unknown {{@main takes or gives functions: which they are is not known}}
func.func @main(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = relay.call %f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
// -----
// expected-error@unknown {{a data type with a field of type (!relay.var<A>) -> !relay.var<A>: a function of a type parameter}}
relay.type @Change<A> { Change((!relay.var<A>) -> !relay.var<A>) }
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %f = relay.fn (%a: tensor<f32>) -> tensor<f32> {
    relay.return %a : tensor<f32>
  }
  %c = relay.construct Change(%f) : ((tensor<f32>) -> tensor<f32>) -> !relay.adt<@Change, tensor<f32>>
  return %x : tensor<f32>
}
// -----
// expected-error@unknown {{there is no function @main with a body in the module}}
func.func @other(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
