// RUN: opt-tool %s -p relay-to-basic-block-normal-form | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %s = relay.sigmoid %x
// CHECK-NEXT:   %r = relay.if %c -> tensor<8xf32> {
// CHECK-NEXT:     %0 = relay.exp %x
// CHECK-NEXT:     %1 = relay.tanh %0
// CHECK-NEXT:     %2 = relay.add %1, %s
// CHECK-NEXT:     relay.yield %2
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %i = relay.if %c -> tensor<8xf32> {
// CHECK-NEXT:       %d = relay.ceil %x
// CHECK-NEXT:       relay.yield %d
func.func @main(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.exp %x : tensor<8xf32>
  %1 = relay.tanh %0 : tensor<8xf32>
  %d = relay.ceil %x : tensor<8xf32>
  %s = relay.sigmoid %x : tensor<8xf32>
  %r = relay.if %c -> tensor<8xf32> {
    %2 = relay.add %1, %s : tensor<8xf32>
    relay.yield %2 : tensor<8xf32>
  } else {
    %i = relay.if %c -> tensor<8xf32> {
      relay.yield %d : tensor<8xf32>
    } else {
      relay.yield %s : tensor<8xf32>
    }
    relay.yield %i : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
