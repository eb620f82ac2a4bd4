// RUN: opt-tool %s -p relay-defunctionalization | filecheck %s
// A kernel that is called in one place and chosen from in another is data in both.

// CHECK:      relay.type @fn {
// CHECK-NEXT:   lifted_k,
// CHECK-NEXT:   double
// CHECK:      func.func @main
// CHECK-NEXT:   %k = relay.construct lifted_k() : () -> !relay.adt<@fn>
// CHECK-NEXT:   %y = func.call @call_fn(%k, %x)
// CHECK-NEXT:   %f = relay.if %c -> !relay.adt<@fn> {
// CHECK-NEXT:     relay.yield %k
// CHECK:        func.call @call_fn(%f, %y)
func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %y = relay.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %k = relay.fn (%a: tensor<f32>) -> tensor<f32> attributes {Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<f32>
    relay.return %b : tensor<f32>
  }
  %y = relay.call %k(%x) : (tensor<f32>) -> tensor<f32>
  %f = relay.if %c -> ((tensor<f32>) -> tensor<f32>) {
    relay.yield %k : (tensor<f32>) -> tensor<f32>
  } else {
    %d = relay.global @double : (tensor<f32>) -> tensor<f32>
    relay.yield %d : (tensor<f32>) -> tensor<f32>
  }
  %z = relay.call %f(%y) : (tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}
