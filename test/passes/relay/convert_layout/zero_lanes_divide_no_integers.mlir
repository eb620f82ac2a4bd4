// 24 channels leave eight lanes of zeros. What a function makes of these is cleared for a convolution that reads them, but
// 0/0 of integers is an error of the run: back to NCHW for it, save where the divisor is a number.
// RUN: opt-tool %s -p relay-convert-layout | filecheck %s

// CHECK-LABEL: func.func @functions
// CHECK:         %l = relay.log %c : tensor<1x2x8x8x16xf32>
// CHECK:         [[L:%.*]] = relay.where {{%.*}}, %l, {{%.*}} -> tensor<1x2x8x8x16xf32>
// CHECK:         relay.nn.contrib_conv2d_NCHWc [[L]]
func.func @functions(%x: tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<24x24x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<24x24x3x3xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x24x8x8xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x8x8xf32>
  %l = relay.log %c : tensor<1x24x8x8xf32>
  %y = relay.nn.conv2d %l, %v {padding = [1, 1]} : (tensor<1x24x8x8xf32>, tensor<24x24x3x3xf32>) -> tensor<1x24x8x8xf32>
  return %y : tensor<1x24x8x8xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK:         %h = relay.divide %i, {{%.*}} -> tensor<1x2x8x8x16xi32>
// CHECK:         relay.layout_transform {{.*}} {channels = 24, dst_layout = "NCHW", src_layout = "NCHW16c"}
// CHECK:         %y = relay.divide {{.*}} : tensor<1x24x8x8xi32>
func.func @integers(%x: tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xi32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<24x24x1x1xf32>
  %two = relay.constant dense<2> : tensor<i32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x24x8x8xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x8x8xf32>
  %i = relay.cast %c {dtype = "int32"} : (tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xi32>
  %h = relay.divide %i, %two : (tensor<1x24x8x8xi32>, tensor<i32>) -> tensor<1x24x8x8xi32>
  %y = relay.divide %h, %i : (tensor<1x24x8x8xi32>, tensor<1x24x8x8xi32>) -> tensor<1x24x8x8xi32>
  return %y : tensor<1x24x8x8xi32>
}
