// RUN: opt-tool %s -p relay-backward-fold-scale-axis | filecheck %s

// CHECK:      relay.nn.dense
// CHECK-NEXT: relay.multiply
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<4x8xf32>
  %t = relay.constant dense<[[3.0], [2.0]]> : tensor<2x1xf32>
  %d = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %z = relay.multiply %d, %t : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
