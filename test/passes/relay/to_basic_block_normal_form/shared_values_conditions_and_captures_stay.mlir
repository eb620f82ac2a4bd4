// RUN: opt-tool %s -p relay-to-basic-block-normal-form | filecheck %s
// Both branches use %0, the choice itself %1, a function keeps %2, and what a cell holds may change.

// CHECK:      %0 = relay.exp %x
// CHECK-NEXT: %1 = relay.less
// CHECK-NEXT: %2 = relay.tanh %x
// CHECK-NEXT: %3 = relay.ref_read
// CHECK:      relay.if
func.func @main(%x: tensor<8xf32>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<8xf32> {
  %m = relay.ref_create %x : tensor<8xf32>
  %0 = relay.exp %x : tensor<8xf32>
  %1 = relay.less %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = relay.tanh %x : tensor<8xf32>
  %3 = relay.ref_read %m : !relay.ref<tensor<8xf32>>
  %f = relay.fn captures(%k = %2 : tensor<8xf32>) (%p: tensor<8xf32>) -> tensor<8xf32> {
    %q = relay.add %p, %k : tensor<8xf32>
    relay.return %q : tensor<8xf32>
  }
  %z = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %r = relay.if %1 -> tensor<8xf32> {
    %s = relay.add %0, %3 : tensor<8xf32>
    relay.yield %s : tensor<8xf32>
  } else {
    relay.yield %0 : tensor<8xf32>
  }
  %y = relay.add %r, %z : tensor<8xf32>
  return %y : tensor<8xf32>
}
