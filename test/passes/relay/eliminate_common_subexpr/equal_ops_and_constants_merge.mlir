// RUN: opt-tool %s -p relay-eliminate-common-subexpr | filecheck %s

// CHECK:      %c = relay.constant
// CHECK-NEXT: %a = relay.add %x, %c
// CHECK-NEXT: %y = relay.multiply %a, %a
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %d = relay.constant dense<2.0> : tensor<4xf32>
  %a = relay.add %x, %c : tensor<4xf32>
  %b = relay.add %d, %x : tensor<4xf32>
  %y = relay.multiply %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
