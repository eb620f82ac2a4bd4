// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s
// A factor of a batch is a batch of one.

// CHECK:      %0 = relay.expand_dims %w {axis = 0} : (tensor<40x64xf32>) -> tensor<1x40x64xf32>
// CHECK-NEXT: %1 = relay.transpose %0 {axes = [0, 2, 1]} : (tensor<1x40x64xf32>) -> tensor<1x64x40xf32>
// CHECK-NEXT: %y = relay.nn.batch_matmul %x, %1 {transpose_b = false} : (tensor<3x32x64xf32>, tensor<1x64x40xf32>) -> tensor<3x32x40xf32>
func.func @main(%x: tensor<3x32x64xf32>, %w: tensor<40x64xf32>) -> tensor<3x32x40xf32> {
  %y = relay.nn.dense %x, %w : (tensor<3x32x64xf32>, tensor<40x64xf32>) -> tensor<3x32x40xf32>
  return %y : tensor<3x32x40xf32>
}
