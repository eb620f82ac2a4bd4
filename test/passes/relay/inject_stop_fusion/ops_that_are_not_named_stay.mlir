// RUN: opt-tool %s -p 'relay-inject-stop-fusion{ops=nn.conv2d}' | filecheck %s

// CHECK-NOT: stop_fusion
// CHECK:     func.return
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  return %a : tensor<8xf32>
}
