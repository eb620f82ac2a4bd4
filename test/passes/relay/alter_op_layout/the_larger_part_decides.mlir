// RUN: opt-tool %s -p 'relay-alter-op-layout{block=8}' | filecheck %s
// A piece on blocks among larger ones in plain order is transposed, not they; of equal parts the reader decides.

// CHECK-LABEL: func.func @most_is_plain
// CHECK:         [[C:%.*]] = relay.layout_transform {{.*}} {dst_layout = "NCHW", src_layout = "NCHW8c"}
// CHECK-NEXT:    %y = relay.concatenate [[C]], %x
func.func @most_is_plain(%x: tensor<1x24x6x6xf32>, %z: tensor<1x8x6x6xf32>) -> tensor<1x32x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x8x1x1xf32>
  %c = relay.nn.conv2d %z, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.concatenate %c, %x {axis = 1} : (tensor<1x8x6x6xf32>, tensor<1x24x6x6xf32>) -> tensor<1x32x6x6xf32>
  return %y : tensor<1x32x6x6xf32>
}

// CHECK-LABEL: func.func @a_convolution_reads_it
// CHECK:         %s = relay.add %c, {{.*}} : tensor<1x1x6x6x8xf32>
func.func @a_convolution_reads_it(%x: tensor<1x8x6x6xf32>, %z: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x8x1x1xf32>
  %c = relay.nn.conv2d %z, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.add %c, %x : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.nn.conv2d %s, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @nobody_asks_for_blocks
// CHECK:         %s = relay.add {{.*}}, %x : tensor<1x8x6x6xf32>
func.func @nobody_asks_for_blocks(%x: tensor<1x8x6x6xf32>, %z: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x8x1x1xf32>
  %c = relay.nn.conv2d %z, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %s = relay.add %c, %x : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %s : tensor<1x8x6x6xf32>
}
