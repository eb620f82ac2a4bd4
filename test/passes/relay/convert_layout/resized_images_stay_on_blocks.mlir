// RUN: opt-tool %s -p relay-convert-layout | filecheck %s
// Between two convolutions a resized image stays on channel blocks: each axis is resized on its own.

// CHECK:      relay.nn.contrib_conv2d_NCHWc
// CHECK-NEXT: %{{[0-9]+}} = relay.image.resize2d %{{[0-9]+}} {layout = "NCHW16c", size = [16, 16]}
// CHECK:      relay.nn.contrib_conv2d_NCHWc
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x16x16xf32> {
  %k = relay.constant dense<1.0> : tensor<16x16x3x3xf32>
  %0 = relay.nn.conv2d %x, %k {padding = [1, 1, 1, 1]}
    : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = relay.image.resize2d %0 {size = [16, 16]} : (tensor<1x16x8x8xf32>) -> tensor<1x16x16x16xf32>
  %2 = relay.nn.conv2d %1, %k {padding = [1, 1, 1, 1]}
    : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  return %2 : tensor<1x16x16x16xf32>
}
