// RUN: opt-tool %s -p relay-fast-math | filecheck %s

// CHECK:      %a = relay.log %x
// CHECK-NEXT: %b = relay.sigmoid %a
// CHECK-NEXT: %c = relay.nn.log_softmax %b
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = relay.log %x : tensor<8x4xf32>
  %b = relay.sigmoid %a : tensor<8x4xf32>
  %c = relay.nn.log_softmax %b : tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}
