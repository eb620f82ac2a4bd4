// RUN: opt-tool %s -p relay-remove-stop-fusion | filecheck %s

// CHECK: %b = relay.annotation.checkpoint %a
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.annotation.checkpoint %a : tensor<8xf32>
  %c = relay.nn.relu %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
