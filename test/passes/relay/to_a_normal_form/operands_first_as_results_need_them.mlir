// RUN: opt-tool %s -p relay-to-a-normal-form | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = relay.exp %x
// CHECK-NEXT:   %1 = relay.tanh %x
// CHECK-NEXT:   %2 = relay.add %0, %1
// CHECK-NEXT:   %r = relay.if %c
// CHECK-NEXT:     %s = relay.sigmoid %x
// CHECK-NEXT:     relay.yield %s
func.func @main(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %s = relay.sigmoid %x : tensor<8xf32>
  %1 = relay.tanh %x : tensor<8xf32>
  %0 = relay.exp %x : tensor<8xf32>
  %2 = relay.add %0, %1 : tensor<8xf32>
  %r = relay.if %c -> tensor<8xf32> {
    relay.yield %s : tensor<8xf32>
  } else {
    relay.yield %2 : tensor<8xf32>
  }
  %y = relay.add %2, %r : tensor<8xf32>
  return %y : tensor<8xf32>
}
