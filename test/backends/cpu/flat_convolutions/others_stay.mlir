// RUN: opt-tool %s -p cpu-flat-convolutions | filecheck %s
// A weight that is computed, other layouts, volumes and transposed ones in groups, windows that would be mostly zeros.

// CHECK-NOT: relay.nn.conv2d %
// CHECK:     relay.nn.conv1d
// CHECK:     relay.nn.conv1d
// CHECK:     relay.nn.conv3d
// CHECK:     relay.nn.conv2d_transpose
// CHECK:     relay.nn.conv2d_transpose
// CHECK-NOT: relay.nn.conv2d %
func.func @main(%x: tensor<1x2x6xf32>, %w: tensor<2x2x3xf32>, %v: tensor<1x2x4x5x6xf32>, %z: tensor<1x4x5x5xf32>)
    -> (tensor<1x2x4xf32>, tensor<1x4x2xf32>, tensor<1x2x3x3x4xf32>, tensor<1x2x7x7xf32>, tensor<1x8x13x13xf32>) {
  %a = relay.nn.conv1d %x, %w : (tensor<1x2x6xf32>, tensor<2x2x3xf32>) -> tensor<1x2x4xf32>
  %c = relay.constant dense<1.5> : tensor<3x2x2xf32>
  %t = relay.transpose %x {axes = [0, 2, 1]} : (tensor<1x2x6xf32>) -> tensor<1x6x2xf32>
  %b = relay.nn.conv1d %t, %c {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x6x2xf32>, tensor<3x2x2xf32>) -> tensor<1x4x2xf32>
  %d = relay.constant dense<1.5> : tensor<2x1x2x3x3xf32>
  %e = relay.nn.conv3d %v, %d {groups = 2} : (tensor<1x2x4x5x6xf32>, tensor<2x1x2x3x3xf32>) -> tensor<1x2x3x3x4xf32>
  %f = relay.constant dense<1.5> : tensor<4x1x3x3xf32>
  %g = relay.nn.conv2d_transpose %z, %f {groups = 2} : (tensor<1x4x5x5xf32>, tensor<4x1x3x3xf32>) -> tensor<1x2x7x7xf32>
  %h = relay.constant dense<1.5> : tensor<4x8x1x1xf32>
  %i = relay.nn.conv2d_transpose %z, %h {strides = [3, 3]} : (tensor<1x4x5x5xf32>, tensor<4x8x1x1xf32>) -> tensor<1x8x13x13xf32>
  return %a, %b, %e, %g, %i : tensor<1x2x4xf32>, tensor<1x4x2xf32>, tensor<1x2x3x3x4xf32>, tensor<1x2x7x7xf32>, tensor<1x8x13x13xf32>
}
