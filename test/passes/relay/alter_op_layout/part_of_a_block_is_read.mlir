// RUN: opt-tool %s -p 'relay-alter-op-layout{block=16}' | filecheck %s
// 24 channels are two blocks, of which a kernel reads three halves, and 17 are five quarters. Kernels that products of
// transformed tiles may compute stay whole blocks. What is read beyond the channels are zeros, whatever the data is.

// CHECK:      %c = relay.nn.contrib_conv2d_NCHWc {{.*}} tensor<1x1x1x1x16x32xf32>
// CHECK:      [[LANES:%.*]] = relay.constant dense<{{.*}} true]]], {{.*}} false]]]]]> : tensor<1x2x1x1x16xi1>
// CHECK:      [[C:%.*]] = relay.where [[LANES]], %c, {{%.*}} -> tensor<1x2x6x6x16xf32>
// CHECK:      %d = relay.nn.contrib_conv2d_NCHWc [[C]], {{.*}} kernel_layout = "OIHW8i32o"{{.*}} tensor<1x3x1x1x8x32xf32>) -> tensor<1x2x6x6x16xf32>
// CHECK:      %y = relay.nn.contrib_conv2d_NCHWc [[C]], {{.*}} tensor<1x2x3x3x16x32xf32>)
// CHECK:      [[Y:%.*]] = relay.where {{%.*}}, %y, {{%.*}}
// CHECK:      %e = relay.nn.contrib_conv2d_NCHWc [[Y]], {{.*}} kernel_layout = "OIHW4i16o"{{.*}} tensor<1x5x5x5x4x16xf32>) -> tensor<1x1x6x6x16xf32>
func.func @main(%x: tensor<1x16x6x6xf32>) -> (tensor<1x32x6x6xf32>, tensor<1x16x6x6xf32>) {
  %u = relay.constant #relay.param<"u", "0123456789abcdef"> : tensor<24x16x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<32x24x1x1xf32>
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<17x24x3x3xf32>
  %z = relay.constant #relay.param<"z", "0123456789abcdef"> : tensor<16x17x5x5xf32>
  %c = relay.nn.conv2d %x, %u : (tensor<1x16x6x6xf32>, tensor<24x16x1x1xf32>) -> tensor<1x24x6x6xf32>
  %d = relay.nn.conv2d %c, %v : (tensor<1x24x6x6xf32>, tensor<32x24x1x1xf32>) -> tensor<1x32x6x6xf32>
  %y = relay.nn.conv2d %c, %w {padding = [1, 1]} : (tensor<1x24x6x6xf32>, tensor<17x24x3x3xf32>) -> tensor<1x17x6x6xf32>
  %e = relay.nn.conv2d %y, %z {padding = [2, 2]} : (tensor<1x17x6x6xf32>, tensor<16x17x5x5xf32>) -> tensor<1x16x6x6xf32>
  return %d, %e : tensor<1x32x6x6xf32>, tensor<1x16x6x6xf32>
}

// Three halves are all of the channels: no lane beyond them is read.

// CHECK-LABEL: func.func @whole_parts
// CHECK-NOT:     relay.where
// CHECK:         func.return
func.func @whole_parts(%x: tensor<1x16x6x6xf32>) -> tensor<1x32x6x6xf32> {
  %u = relay.constant #relay.param<"u", "0123456789abcdef"> : tensor<24x16x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<32x24x1x1xf32>
  %c = relay.nn.conv2d %x, %u : (tensor<1x16x6x6xf32>, tensor<24x16x1x1xf32>) -> tensor<1x24x6x6xf32>
  %d = relay.nn.conv2d %c, %v : (tensor<1x24x6x6xf32>, tensor<32x24x1x1xf32>) -> tensor<1x32x6x6xf32>
  return %d : tensor<1x32x6x6xf32>
}
