// RUN: opt-tool %s -p relay-remove-stop-fusion | filecheck %s

// CHECK:      %a = relay.exp %x
// CHECK-NEXT: %c = relay.nn.relu %a
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.annotation.stop_fusion %a : tensor<8xf32>
  %c = relay.nn.relu %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
