// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// Each block is fused by itself; a value that a region or a capture reads is not moved behind it.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  // %a is read inside the choice: it may not be fused into the addition behind it.
  // CHECK: %a = relay.call %fused_exp(%x)
  %a = relay.exp %x : tensor<8xf32>
  // CHECK: %f = relay.fn captures(%k = %a : tensor<8xf32>)
  %f = relay.fn captures(%k = %a : tensor<8xf32>) (%y: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: %fused_add_nn_relu = relay.fn
    // CHECK: relay.call %fused_add_nn_relu(%y, %k)
    %0 = relay.add %y, %k : tensor<8xf32>
    %1 = relay.nn.relu %0 : tensor<8xf32>
    relay.return %1 : tensor<8xf32>
  }
  // CHECK: relay.if %c
  %r = relay.if %c -> tensor<8xf32> {
    // CHECK: %fused_sqrt_exp = relay.fn
    // CHECK: relay.call %fused_sqrt_exp(%a)
    %0 = relay.sqrt %a : tensor<8xf32>
    %1 = relay.exp %0 : tensor<8xf32>
    relay.yield %1 : tensor<8xf32>
  } else {
    %0 = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %0 : tensor<8xf32>
  }
  // CHECK: relay.call %fused_add(%a, %r)
  %s = relay.add %a, %r : tensor<8xf32>
  return %s : tensor<8xf32>
}
