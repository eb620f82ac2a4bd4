// RUN: opt-tool %s -p relay-simplify-expr-post-alter-op | filecheck %s
// x + x stays a sum, and the transposed factor that the target has asked for stays too.

// CHECK:      relay.add %x, %x
// CHECK-NEXT: relay.transpose
// CHECK-NEXT: relay.nn.batch_matmul
func.func @main(%x: tensor<2x4x8xf32>, %y: tensor<2x5x8xf32>) -> tensor<2x4x5xf32> {
  %0 = relay.add %x, %x : tensor<2x4x8xf32>
  %1 = relay.transpose %y {axes = [0, 2, 1]} : (tensor<2x5x8xf32>) -> tensor<2x8x5xf32>
  %2 = relay.nn.batch_matmul %0, %1 {transpose_b = false} : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<2x4x5xf32>
  return %2 : tensor<2x4x5xf32>
}
