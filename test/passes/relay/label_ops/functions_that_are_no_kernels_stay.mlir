// RUN: opt-tool %s -p relay-label-ops | filecheck %s

// CHECK-NOT: hash
// CHECK:     func.return
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> {
    %b = relay.exp %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
