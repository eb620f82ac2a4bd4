// RUN: opt-tool %s -p relay-first-order-gradient | opt-tool | filecheck %s
// Where results have names, gradients have theirs.

func.func @main(%x: tensor<4xf32>) -> (tensor<f32> {lamina.name = "loss"}) {
  %0 = relay.sum %x : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func.func @main(%x: tensor<4xf32>) -> (tensor<f32> {lamina.name = "loss"}, tensor<4xf32> {lamina.name = "grad_x"})
// CHECK: func.return %{{.*}}, %grad_x : tensor<f32>, tensor<4xf32>
