// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// On one device on_device is a remark that goes, and a device_copy is a copy of its own.

// CHECK:      func.func @main
// CHECK-NEXT:   %fused_exp_nn_relu = relay.fn
// CHECK:        %b = relay.call %fused_exp_nn_relu(%x)
// CHECK-NEXT:   %fused_device_copy = relay.fn
// CHECK:        %c = relay.call %fused_device_copy(%b)
// CHECK-NEXT:   func.return %c
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %o = relay.on_device %a {constrain_result = true, virtual_device = "cpu:0"} : tensor<8xf32>
  %b = relay.nn.relu %o : tensor<8xf32>
  %c = relay.device_copy %b {dst_virtual_device = "cpu:1"} : tensor<8xf32>
  return %c : tensor<8xf32>
}
