// RUN: opt-tool %s -p relay-to-mixed-precision | filecheck %s
// Nothing to follow; integers and doubles are not made narrow.

// CHECK-NOT: relay.cast
// CHECK-NOT: f16
// CHECK:     func.return
func.func @main(%x: tensor<2x2xf32>, %i: tensor<2x2xi32>, %d: tensor<2x2xf64>)
    -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xf64>) {
  %a = relay.nn.relu %x : tensor<2x2xf32>
  %b = relay.nn.dense %i, %i : tensor<2x2xi32>
  %c = relay.nn.dense %d, %d : tensor<2x2xf64>
  return %a, %b, %c : tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x2xf64>
}
