// RUN: opt-tool %s -p relay-plan-devices | filecheck %s

// CHECK:      %0 = relay.exp %x {lamina.virtual_device = "cuda:0"}
// CHECK-NEXT: %1 = relay.tanh %0 {lamina.virtual_device = "cuda:0"}
// CHECK-NEXT: %2 = relay.device_copy %1 {src_virtual_device = "cuda:0"}
// CHECK-NEXT: %3 = relay.add %2, %y : tensor<8xf32>
// CHECK-NEXT: %4 = relay.device_copy %3 {dst_virtual_device = "cuda:0", lamina.virtual_device = "cuda:0"}
// CHECK-NEXT: %5 = relay.abs %4 {lamina.virtual_device = "cuda:0"}
// CHECK-NEXT: func.return %5
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.exp %x : tensor<8xf32>
  %1 = relay.tanh %0 : tensor<8xf32>
  %2 = relay.on_device %1 {virtual_device = "cuda:0"} : tensor<8xf32>
  %3 = relay.add %2, %y : tensor<8xf32>
  %4 = relay.on_device %3 {virtual_device = "cuda:0", constrain_body = false, constrain_result = true} : tensor<8xf32>
  %5 = relay.abs %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}
