// RUN: opt-tool %s -p 'relay-defunctionalization{function=negated}' | filecheck %s
// @apply may be called with other functions from elsewhere; the recursion takes itself on as data.

// CHECK:      relay.type @fn {
// CHECK-NEXT:   lifted_down
// CHECK:      func.func @apply(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>)
// CHECK-NEXT:   relay.call %f(%x)
// CHECK:      func.func @negated
// CHECK-NEXT:   %down = relay.construct lifted_down()
// CHECK-NEXT:   %y = func.call @apply_on_data(%down, %x)
// CHECK:      func.func private @lifted_down(%a: tensor<f32>)
// CHECK-NEXT:   %again = relay.construct lifted_down()
// CHECK:          func.call @call_fn(%again,
// CHECK:      func.func private @apply_on_data(%f: !relay.adt<@fn>, %x: tensor<f32>)
// CHECK-NEXT:   func.call @call_fn(%f, %x)
func.func @apply(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = relay.call %f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @negated(%x: tensor<f32>) -> tensor<f32> {
  %down = relay.fn self %again (%a: tensor<f32>) -> tensor<f32> {
    %one = relay.constant dense<1.0> : tensor<f32>
    %more = relay.greater %a, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r = relay.if %more -> tensor<f32> {
      %less = relay.subtract %a, %one : tensor<f32>
      %s = relay.call %again(%less) : (tensor<f32>) -> tensor<f32>
      relay.yield %s : tensor<f32>
    } else {
      relay.yield %a : tensor<f32>
    }
    relay.return %r : tensor<f32>
  }
  %y = func.call @apply(%down, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
