// RUN: opt-tool %s -p relay-plan-devices --verify-diagnostics

func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.device_copy %x {dst_virtual_device = "cuda:0"} : tensor<8xf32>
  %1 = relay.device_copy %y {dst_virtual_device = "cuda:1"} : tensor<8xf32>
  // expected-error@+1 {{is on cuda:}}
  %2 = relay.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
