// RUN: opt-tool %s -p 'relay-inject-stop-fusion{ops=exp}' | filecheck %s
// RUN: opt-tool %s -p 'relay-inject-stop-fusion{ops=exp},relay-inject-stop-fusion{ops=exp}' | filecheck %s

// CHECK:      %a = relay.exp %x
// CHECK-NEXT: [[S:%.*]] = relay.annotation.stop_fusion %a
// CHECK-NEXT: %b = relay.nn.relu [[S]]
// CHECK-NEXT: func.return [[S]], %b
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.nn.relu %a : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
