// RUN: not opt-tool %s -p 'relay-inject-stop-fusion{ops=nn.conv}' 2>&1 | filecheck %s

// CHECK: relay-inject-stop-fusion: there is no op 'relay.nn.conv'
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
