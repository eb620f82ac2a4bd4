// RUN: opt-tool %s -p "relay-vmap{size=8 arguments=0}" | filecheck %s
// A convolution has an axis of images: there are more of them.

// CHECK:      relay.reshape %x {allowzero = true, newshape = [16, 3, 32, 32]}
// CHECK-NEXT: relay.nn.conv2d %{{.*}}, %w {channels = 4, kernel_size = [3, 3]}
// CHECK-NEXT: relay.reshape %{{.*}} {allowzero = true, newshape = [8, 2, 4, 30, 30]}
func.func @main(%x: tensor<2x3x32x32xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x30x30xf32> {
  %y = relay.nn.conv2d %x, %w {channels = 4, kernel_size = [3, 3]} : (tensor<2x3x32x32xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x30x30xf32>
  return %y : tensor<2x4x30x30xf32>
}
