// RUN: opt-tool %s -p relay-legalize | filecheck %s

// CHECK:      %0 = relay.constant #relay.param<"w/transpose", "{{[0-9a-f]+}}"> : tensor<5x8xf32>
// CHECK-NEXT: %y = relay.nn.dense %x, %0
// CHECK-NEXT: %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<5x8xf32>
// CHECK-NEXT: %z = relay.nn.dense %x, %v
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x5xf32>
  %y = relay.nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<5x8xf32>
  %z = relay.nn.matmul %x, %v {transpose_b = true} : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  return %y, %z : tensor<4x5xf32>, tensor<4x5xf32>
}
