// RUN: opt-tool %s -p relay-qnn-canonicalize | filecheck %s
// Nothing but quantised ops is touched: constants elsewhere are folded by the pass that is for it.

func.func @main(%x: tensor<4x3xi8>) -> tensor<4x3xi8> {
  %a = relay.constant dense<1> : tensor<i8>
  %b = relay.constant dense<2> : tensor<i8>
  %c = relay.add %a, %b : tensor<i8>
  %y = relay.multiply %x, %c : (tensor<4x3xi8>, tensor<i8>) -> tensor<4x3xi8>
  return %y : tensor<4x3xi8>
}

// CHECK:      %c = relay.add %a, %b
// CHECK-NEXT: %y = relay.multiply %x, %c
// CHECK-NEXT: func.return %y
