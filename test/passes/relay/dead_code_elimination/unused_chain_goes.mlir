// RUN: opt-tool %s -p relay-dead-code-elimination | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %y = relay.abs %x
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %a = relay.add %x, %c : tensor<4xf32>
  %b = relay.exp %a : tensor<4xf32>
  %f = relay.fn (%p: tensor<4xf32>) -> tensor<4xf32> {
    relay.return %p : tensor<4xf32>
  }
  %z = relay.call %f(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.abs %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
