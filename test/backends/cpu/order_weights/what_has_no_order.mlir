// RUN: opt-tool %s -p cpu-order-weights | filecheck %s
// One tap, one block of input channels, weights that a user gives, and whole numbers: they stay as they lie.

// CHECK-NOT: layout_transform
// CHECK-NOT: OHWI
// CHECK:     %a = relay.nn.contrib_conv2d_NCHWc %x, %w
// CHECK:     %b = relay.nn.contrib_conv2d_NCHWc %x, %v
// CHECK:     %c = relay.nn.contrib_conv2d_NCHWc %x, %u
// CHECK:     %d = relay.nn.contrib_conv2d_NCHWc %i, %q
// CHECK-NOT: layout_transform
// CHECK-NOT: OHWI
func.func @main(%x: tensor<1x2x8x8x16xf32>, %u: tensor<1x2x3x3x16x32xf32>, %i: tensor<1x2x8x8x16xui8>)
    -> (tensor<1x2x8x8x16xf32>, tensor<1x2x8x8x16xf32>, tensor<1x2x6x6x16xf32>, tensor<1x2x6x6x16xi32>) {
  %w = relay.constant dense<1.0> : tensor<1x2x1x1x16x32xf32>
  %a = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 32}
    : (tensor<1x2x8x8x16xf32>, tensor<1x2x1x1x16x32xf32>) -> tensor<1x2x8x8x16xf32>
  %v = relay.constant dense<1.0> : tensor<2x1x3x3x16x16xf32>
  %b = relay.nn.contrib_conv2d_NCHWc %x, %v {channels = 32, groups = 2, padding = [1, 1], kernel_layout = "OIHW16i16o"}
    : (tensor<1x2x8x8x16xf32>, tensor<2x1x3x3x16x16xf32>) -> tensor<1x2x8x8x16xf32>
  %c = relay.nn.contrib_conv2d_NCHWc %x, %u {channels = 32}
    : (tensor<1x2x8x8x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x6x6x16xf32>
  %q = relay.constant dense<1> : tensor<2x8x3x3x16x4xi8>
  %d = relay.nn.contrib_conv2d_NCHWc %i, %q {channels = 32, kernel_layout = "OIHW16o4i", out_dtype = "int32"}
    : (tensor<1x2x8x8x16xui8>, tensor<2x8x3x3x16x4xi8>) -> tensor<1x2x6x6x16xi32>
  return %a, %b, %c, %d : tensor<1x2x8x8x16xf32>, tensor<1x2x8x8x16xf32>, tensor<1x2x6x6x16xf32>, tensor<1x2x6x6x16xi32>
}
