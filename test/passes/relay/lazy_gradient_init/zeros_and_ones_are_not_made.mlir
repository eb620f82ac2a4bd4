// RUN: opt-tool %s -p relay-lazy-gradient-init | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   func.return %g : tensor<8xf32>
func.func @main(%x: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.zeros_like %x : tensor<8xf32>
  %1 = relay.add %0, %g : tensor<8xf32>
  %2 = relay.ones {shape = [8]} : () -> tensor<8xf32>
  %3 = relay.multiply %1, %2 : tensor<8xf32>
  %4 = relay.zeros {shape = [8]} : () -> tensor<8xf32>
  %5 = relay.multiply %4, %g : tensor<8xf32>
  %6 = relay.subtract %3, %5 : tensor<8xf32>
  return %6 : tensor<8xf32>
}
