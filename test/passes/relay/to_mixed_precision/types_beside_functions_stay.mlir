// RUN: opt-tool %s -p relay-to-mixed-precision | filecheck %s

// CHECK:      relay.type @Pair {
// CHECK-NEXT:   Pair(tensor<2x2xf32>)
// CHECK:      relay.nn.dense {{.*}}tensor<2x2xf16>
relay.type @Pair { Pair(tensor<2x2xf32>) }
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = relay.nn.dense %x, %x : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
