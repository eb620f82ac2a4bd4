// RUN: opt-tool %s -p 'relay-alter-op-layout{block=8}' | filecheck %s
// An op is asked which layouts it takes: no list names those that say so. Three axes of an image have no blocks.

// CHECK:      %c = relay.nn.contrib_conv2d_NCHWc
// CHECK-NEXT: %y = relay.nn.adaptive_max_pool2d %c {layout = "NCHW8c", output_size = [3, 3]} : (tensor<1x2x6x6x8xf32>) -> tensor<1x2x3x3x8xf32>
// CHECK-NEXT: %{{.*}} = relay.layout_transform %y {dst_layout = "NCHW", src_layout = "NCHW8c"}
// CHECK-NEXT: %r = relay.reshape
// CHECK-NEXT: %z = relay.nn.avg_pool1d %r {{.*}} : (tensor<1x16x9xf32>)
func.func @main(%x: tensor<1x8x6x6xf32>) -> tensor<1x16x3xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x8x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x6x6xf32>
  %y = relay.nn.adaptive_max_pool2d %c {output_size = [3, 3]} : (tensor<1x16x6x6xf32>) -> tensor<1x16x3x3xf32>
  %r = relay.reshape %y {newshape = [1, 16, 9]} : (tensor<1x16x3x3xf32>) -> tensor<1x16x9xf32>
  %z = relay.nn.avg_pool1d %r {pool_size = [3], strides = [3]} : (tensor<1x16x9xf32>) -> tensor<1x16x3xf32>
  return %z : tensor<1x16x3xf32>
}
