// RUN: opt-tool %s -p relay-fast-math | filecheck %s

// CHECK:      %a = relay.fast_exp %x
// CHECK-NEXT: %b = relay.fast_tanh %a
// CHECK-NEXT: %c = relay.fast_erf %b
// CHECK-NEXT: %d = relay.nn.fast_softmax %c {axis = 0}
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = relay.exp %x : tensor<8x4xf32>
  %b = relay.tanh %a : tensor<8x4xf32>
  %c = relay.erf %b : tensor<8x4xf32>
  %d = relay.nn.softmax %c {axis = 0} : tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}
