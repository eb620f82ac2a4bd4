// RUN: opt-tool %s -p relay-lazy-gradient-init | filecheck %s

// CHECK:      %0 = relay.zeros_like %x
// CHECK-NEXT: %1 = relay.add %0, %g
// CHECK-NEXT: %2 = relay.ones
// CHECK-NEXT: func.return %1, %2
func.func @main(%x: tensor<3x8xf32>, %g: tensor<8xf32>) -> (tensor<3x8xf32>, tensor<8xf32>) {
  %0 = relay.zeros_like %x : tensor<3x8xf32>
  %1 = relay.add %0, %g : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %2 = relay.ones {shape = [8]} : () -> tensor<8xf32>
  return %1, %2 : tensor<3x8xf32>, tensor<8xf32>
}
