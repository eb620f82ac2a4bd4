// RUN: opt-tool %s -p relay-dead-code-elimination | filecheck %s

// CHECK: relay.call %f(%x)
func.func @main(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
