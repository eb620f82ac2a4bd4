// RUN: opt-tool %s -p relay-legalize | filecheck %s
// Each pixel gives a window of its own: all places of it at once, then put beside each other. Windows that overlap, or
// have gaps between them, stay.

func.func @main(%x: tensor<1x3x4x5xf32>) -> (tensor<1x2x8x10xf32>, tensor<1x2x9x11xf32>) {
  // CHECK:      %0 = relay.constant {{.*}} : tensor<8x3x1x1xf32>
  // CHECK:      %1 = relay.nn.conv2d %x, %0 {channels = 8, kernel_size = [1, 1]} : (tensor<1x3x4x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x5xf32>
  // CHECK-NEXT: %y = relay.nn.depth_to_space %1 {block_size = 2} : (tensor<1x8x4x5xf32>) -> tensor<1x2x8x10xf32>
  %w = relay.constant dense<0.5> : tensor<3x2x2x2xf32>
  %y = relay.nn.conv2d_transpose %x, %w {strides = [2, 2]} : (tensor<1x3x4x5xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x8x10xf32>
  // CHECK:      relay.nn.conv2d_transpose
  %v = relay.constant dense<0.5> : tensor<3x2x3x3xf32>
  %z = relay.nn.conv2d_transpose %x, %v {strides = [2, 2]} : (tensor<1x3x4x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x9x11xf32>
  func.return %y, %z : tensor<1x2x8x10xf32>, tensor<1x2x9x11xf32>
}
