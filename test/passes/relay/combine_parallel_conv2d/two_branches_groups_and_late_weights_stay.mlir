// RUN: opt-tool %s -p relay-combine-parallel-conv2d | filecheck %s
// Two windows of one size are too few; the third has another; the fourth is grouped; the fifth's weight depends on the
// first branch.

// CHECK-NOT: relay.concatenate
// CHECK-NOT: relay.strided_slice
// CHECK: func.return
func.func @main(%x: tensor<1x8x6x6xf32>, %a: tensor<8x8x1x1xf32>, %b: tensor<8x8x3x3xf32>, %c: tensor<8x4x1x1xf32>)
    -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %0 = relay.nn.conv2d %x, %a : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = relay.nn.conv2d %x, %a : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = relay.nn.conv2d %x, %b {padding = [1, 1]} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  %3 = relay.nn.conv2d %x, %c {groups = 2} : (tensor<1x8x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.max %0 {axis = [2, 3], keepdims = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x1x1xf32>
  %w = relay.multiply %a, %s : (tensor<8x8x1x1xf32>, tensor<1x8x1x1xf32>) -> tensor<8x8x1x1xf32>
  %4 = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %1, %2, %3, %4 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}
