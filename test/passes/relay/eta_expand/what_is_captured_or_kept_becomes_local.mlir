// RUN: opt-tool %s -p relay-eta-expand | filecheck %s
// A function of the module may be captured, or be in a value of a data type: no call is there that could name it.

// CHECK:      %f = relay.fn (%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:   func.call @double
// CHECK:      %g = relay.fn captures(%k = %f : (tensor<8xf32>) -> tensor<8xf32>)
// CHECK:      %h = relay.fn (%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:   func.call @double
// CHECK:      %kept = relay.construct some(%h)
relay.type @maybe {
  some((tensor<8xf32>) -> tensor<8xf32>),
  none
}
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, !relay.adt<@maybe>) {
  %f = relay.global @double : (tensor<8xf32>) -> tensor<8xf32>
  %g = relay.fn captures(%k = %f : (tensor<8xf32>) -> tensor<8xf32>) (%p: tensor<8xf32>) -> tensor<8xf32> {
    %q = relay.call %k(%p) : (tensor<8xf32>) -> tensor<8xf32>
    relay.return %q : tensor<8xf32>
  }
  %y = relay.call %g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %h = relay.global @double : (tensor<8xf32>) -> tensor<8xf32>
  %kept = relay.construct some(%h) : ((tensor<8xf32>) -> tensor<8xf32>) -> !relay.adt<@maybe>
  return %y, %kept : tensor<8xf32>, !relay.adt<@maybe>
}
