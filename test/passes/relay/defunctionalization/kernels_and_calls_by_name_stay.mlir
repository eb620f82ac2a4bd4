// RUN: opt-tool %s -p relay-defunctionalization | filecheck %s
// Nothing is a function that has to be looked up.

// CHECK-NOT:  relay.type
// CHECK:      func.call @double(%x)
// CHECK:      relay.fn
// CHECK:      relay.call %k(%y)
// CHECK-NOT:  private
func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %y = relay.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = func.call @double(%x) : (tensor<f32>) -> tensor<f32>
  %k = relay.fn (%a: tensor<f32>) -> tensor<f32> attributes {Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<f32>
    relay.return %b : tensor<f32>
  }
  %z = relay.call %k(%y) : (tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}
