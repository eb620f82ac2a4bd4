// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s
// RUN: opt-tool %s --print-debuginfo | opt-tool --print-debuginfo | opt-tool | filecheck %s
// RUN: opt-tool %s --verify-roundtrip
// A function that is the only result stands in parentheses, and locations do not stand where no parser takes them.

relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
// CHECK: func.func @make(%x: tensor<f32>) -> ((tensor<f32>) -> tensor<f32>) {
func.func @make(%x: tensor<f32>) -> ((tensor<f32>) -> tensor<f32>) {
  // CHECK: %f = relay.fn captures(%k = %x : tensor<f32>) self %me (%y: tensor<f32>) -> tensor<f32> {
  %f = relay.fn captures(%k = %x : tensor<f32>) self %me (%y: tensor<f32>) -> tensor<f32> {
    %0 = relay.add %y, %k : tensor<f32>
    relay.return %0 : tensor<f32>
  }
  return %f : (tensor<f32>) -> tensor<f32>
}
func.func @main(%x: tensor<f32>, %l: !relay.adt<@List, tensor<f32>>) -> tensor<f32> {
  // CHECK: %f = func.call @make(%x) {note = 1 : i64} : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  %f = func.call @make(%x) {note = 1 : i64} : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    // CHECK: case Cons(%h: tensor<f32>, _) {
    case Cons(%h: tensor<f32>, _) {
      %y = relay.call %f(%h) : (tensor<f32>) -> tensor<f32>
      relay.yield %y : tensor<f32>
    }
    case Nil {
      relay.yield %x : tensor<f32>
    }
  }
  return %r : tensor<f32>
}
