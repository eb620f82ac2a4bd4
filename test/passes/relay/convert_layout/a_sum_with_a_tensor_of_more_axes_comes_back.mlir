// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default}' | filecheck %s
// The order of four axes says nothing of a sum that has five.

// CHECK:      %c = relay.nn.conv2d {{.*}}data_layout = "NHWC"
// CHECK-NEXT: [[P:%.*]] = relay.layout_transform %c {dst_layout = "NCHW", src_layout = "NHWC"}
// CHECK-NEXT: %y = relay.add [[P]], %s : (tensor<1x8x6x6xf32>, tensor<2x1x1x1x1xf32>) -> tensor<2x1x8x6x6xf32>
// CHECK-NEXT: func.return %y
func.func @main(%x: tensor<1x3x6x6xf32>, %s: tensor<2x1x1x1x1xf32>) -> tensor<2x1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.add %c, %s : (tensor<1x8x6x6xf32>, tensor<2x1x1x1x1xf32>) -> tensor<2x1x8x6x6xf32>
  return %y : tensor<2x1x8x6x6xf32>
}
