// RUN: opt-tool %s -p relay-dead-code-elimination | filecheck %s
// Whoever writes a cell, may fail to match or calls itself does more than compute its results.

relay.type @Flag { Off, On }
func.func @forever(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: func.call @forever
  %y = func.call @forever(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>, %flag: !relay.adt<@Flag>, %cell: !relay.ref<tensor<8xf32>>) -> tensor<8xf32> {
  // CHECK: func.call @forever
  %a = func.call @forever(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: relay.if
  %b = relay.if %c -> tensor<8xf32> {
    // CHECK: relay.ref_write
    relay.ref_write %cell, %x : tensor<8xf32>
    relay.yield %x : tensor<8xf32>
  } else {
    relay.yield %x : tensor<8xf32>
  }
  %f = relay.fn captures(%k = %cell : !relay.ref<tensor<8xf32>>) (%y: tensor<8xf32>) -> tensor<8xf32> {
    relay.ref_write %k, %y : tensor<8xf32>
    relay.return %y : tensor<8xf32>
  }
  // CHECK: relay.call %f
  %d = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: relay.match partial
  %on = relay.match partial %flag : !relay.adt<@Flag> -> tensor<i1> {
    case On { relay.yield %c : tensor<i1> }
  }
  return %x : tensor<8xf32>
}
