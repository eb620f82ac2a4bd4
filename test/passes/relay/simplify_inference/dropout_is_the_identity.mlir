// RUN: opt-tool %s -p relay-simplify-inference | filecheck %s

// CHECK:      func.func @main(%x: tensor<8xf32>)
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.nn.dropout %x {rate = 0.3} : tensor<8xf32>
  return %y : tensor<8xf32>
}
