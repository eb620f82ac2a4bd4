// RUN: opt-tool %s -p relay-inline | filecheck %s
// Calls of calls of calls, callers first: nothing is left of any.

// CHECK-NOT:   func.call
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    relay.exp %x
// CHECK-NEXT:    relay.nn.relu
// CHECK-NEXT:    relay.tanh
// CHECK-NEXT:    relay.exp
// CHECK-NEXT:    relay.nn.relu
// CHECK-NEXT:    relay.tanh
// CHECK-NEXT:    func.return
// CHECK-NOT:     func.func
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = func.call @outer(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @outer(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func @outer(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = relay.exp %x : tensor<8xf32>
  %b = func.call @middle(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func @middle(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = relay.nn.relu %x : tensor<8xf32>
  %b = func.call @inner(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func @inner(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = relay.tanh %x : tensor<8xf32>
  return %a : tensor<8xf32>
}
