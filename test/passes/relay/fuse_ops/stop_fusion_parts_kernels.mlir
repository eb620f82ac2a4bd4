// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// Nothing is fused across annotation.stop_fusion, which is gone afterwards; what does not go through it fuses as ever.

// CHECK:      func.func @chain
// CHECK-NEXT:   %fused_exp_nn_relu = relay.fn
// CHECK:        %b = relay.call %fused_exp_nn_relu(%x)
// CHECK-NEXT:   %fused_abs_tanh = relay.fn
// CHECK:        %d = relay.call %fused_abs_tanh(%b)
// CHECK-NEXT:   func.return %d
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.nn.relu %a : tensor<8xf32>
  %s = relay.annotation.stop_fusion %b : tensor<8xf32>
  %c = relay.abs %s : tensor<8xf32>
  %d = relay.tanh %c : tensor<8xf32>
  return %d : tensor<8xf32>
}

// One way round the annotation does not bring both sides together.
// CHECK:      func.func @diamond
// CHECK-NEXT:   %fused_exp = relay.fn
// CHECK:        %a = relay.call %fused_exp(%x)
// CHECK-NEXT:   %fused_nn_relu_add = relay.fn
// CHECK:        %y = relay.call %fused_nn_relu_add(%a, %a)
// CHECK-NEXT:   func.return %y
func.func @diamond(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.nn.relu %a : tensor<8xf32>
  %s = relay.annotation.stop_fusion %a : tensor<8xf32>
  %y = relay.add %b, %s : tensor<8xf32>
  return %y : tensor<8xf32>
}
