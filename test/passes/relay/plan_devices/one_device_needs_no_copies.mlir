// RUN: opt-tool %s -p relay-plan-devices | filecheck %s
// The constant is on both devices, and a copy within one is none.

// CHECK:      func.func @main
// CHECK-NEXT:   %c = relay.constant
// CHECK-NEXT:   %0 = relay.add %x, %c
// CHECK-NEXT:   %1 = relay.add %0, %c
// CHECK-NEXT:   func.return %1
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.add %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = relay.on_device %0 {virtual_device = "cpu"} : tensor<8xf32>
  %2 = relay.device_copy %1 : tensor<8xf32>
  %3 = relay.add %2, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
