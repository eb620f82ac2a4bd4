// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// A kernel larger than the data, which a last window in ceil mode may have, is cut to what lies on the data.

// CHECK: te.compute "pad" [1, 3, 4, 6]
// CHECK: te.compute "window_sum" [1, 3, 1, 2] sum [4, 3]
func.func @main(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x1x2xf32> {
  %y = relay.nn.avg_pool2d %x {pool_size = [1280, 3], strides = [1280, 3], ceil_mode = true} : (tensor<1x3x4x5xf32>) -> tensor<1x3x1x2xf32>
  return %y : tensor<1x3x1x2xf32>
}
