// RUN: opt-tool %s -p relay-legalize | filecheck %s

// CHECK-COUNT-2: relay.nn.matmul
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %t: tensor<8x4xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %y = relay.nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<8x5xf32>
  %z = relay.nn.matmul %t, %v {transpose_a = true} : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %y, %z : tensor<4x5xf32>, tensor<4x5xf32>
}
