// RUN: opt-tool %s -p cpu-flat-convolutions | filecheck %s
// Eight rows and steps of four: the first and the last of five rows of taps are always beyond the image. The columns
// have taps that meet a pixel for one place of the window at least.

// CHECK: relay.constant dense<1.500000e+00> : tensor<2x3x3x3xf32>
// CHECK: relay.nn.conv2d %x, %{{.*}} {{{.*}}dilation = [4, 4], kernel_size = [3, 3], padding = [4, 4, 4, 4]}
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %w = relay.constant dense<1.5> : tensor<2x3x5x3xf32>
  %y = relay.nn.conv2d %x, %w {dilation = [4, 4], padding = [8, 4, 8, 4]} : (tensor<1x3x8x8xf32>, tensor<2x3x5x3xf32>) -> tensor<1x2x8x8xf32>
  return %y : tensor<1x2x8x8xf32>
}
