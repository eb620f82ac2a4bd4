// RUN: opt-tool %s -p relay-dead-code-elimination | filecheck %s
// A choice nobody needs goes with what only it read, a call of a function that does nothing else, a closure, a match
// that covers every value. Inside regions as well.

relay.type @Flag { Off, On }
func.func @pure(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %r = relay.if %c -> tensor<8xf32> {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>, %flag: !relay.adt<@Flag>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %f = relay.fn captures(%k = %a : tensor<8xf32>) (%y: tensor<8xf32>) -> tensor<8xf32> {
    relay.return %k : tensor<8xf32>
  }
  %g = relay.global @pure : (tensor<8xf32>) -> tensor<8xf32>
  %dead = relay.if %c -> tensor<8xf32> {
    %0 = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %0 : tensor<8xf32>
  } else {
    %0 = relay.call %g(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = func.call @pure(%0) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %1 : tensor<8xf32>
  }
  %on = relay.match %flag : !relay.adt<@Flag> -> tensor<i1> {
    case _ { relay.yield %c : tensor<i1> }
  }
  %r = relay.if %c -> tensor<8xf32> {
    %0 = relay.nn.relu %a : tensor<8xf32>
    relay.yield %x : tensor<8xf32>
  } else {
    relay.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
