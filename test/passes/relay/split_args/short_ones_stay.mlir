// RUN: opt-tool %s -p 'relay-split-args{max-function-args=3}' | filecheck %s
// RUN: opt-tool %s -p relay-split-args | filecheck %s

// CHECK-NOT: relay.annotation.stop_fusion
// CHECK:     %y = relay.concatenate %a, %b, %a
func.func @main(%a: tensor<1xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  %y = relay.concatenate %a, %b, %a : (tensor<1xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
