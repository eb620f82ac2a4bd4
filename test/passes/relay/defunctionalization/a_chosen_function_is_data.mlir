// RUN: opt-tool %s -p relay-defunctionalization --verify-roundtrip | filecheck %s
// A call is a match on which function it is; what a function captures is in its value.

// CHECK:      relay.type @fn {
// CHECK-NEXT:   lifted_g(tensor<f32>),
// CHECK-NEXT:   double
// CHECK-NEXT: }
// CHECK:      func.func @main
// CHECK-NEXT:   %f = relay.if %c -> !relay.adt<@fn> {
// CHECK-NEXT:     %g = relay.construct lifted_g(%w) : (tensor<f32>) -> !relay.adt<@fn>
// CHECK:          relay.construct double() : () -> !relay.adt<@fn>
// CHECK:        %y = func.call @call_fn(%f, %v) : (!relay.adt<@fn>, tensor<f32>) -> tensor<f32>
// CHECK:      func.func private @lifted_g(%x: tensor<f32>, %k: tensor<f32>) -> tensor<f32>
// CHECK:      func.func private @call_fn(%f: !relay.adt<@fn>, %0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   %1 = relay.match %f : !relay.adt<@fn> -> tensor<f32> {
// CHECK-NEXT:     case lifted_g(%2: tensor<f32>) {
// CHECK-NEXT:       func.call @lifted_g(%0, %2)
// CHECK:          case double {
// CHECK-NEXT:       func.call @double(%0)
func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %y = relay.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%c: tensor<i1>, %w: tensor<f32>, %v: tensor<f32>) -> tensor<f32> {
  %f = relay.if %c -> ((tensor<f32>) -> tensor<f32>) {
    %g = relay.fn captures(%k = %w : tensor<f32>) (%x: tensor<f32>) -> tensor<f32> {
      %z = relay.multiply %x, %k : tensor<f32>
      relay.return %z : tensor<f32>
    }
    relay.yield %g : (tensor<f32>) -> tensor<f32>
  } else {
    %d = relay.global @double : (tensor<f32>) -> tensor<f32>
    relay.yield %d : (tensor<f32>) -> tensor<f32>
  }
  %y = relay.call %f(%v) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
