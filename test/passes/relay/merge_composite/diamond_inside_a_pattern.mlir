// RUN: opt-tool %s -p 'relay-merge-composite{patterns=dnnl}' | filecheck %s
// A swish reads the convolution twice, and both uses are inside the match.

// CHECK:      relay.fn
// CHECK-SAME:   {Composite = "dnnl.conv2d_swish", PartitionedFromPattern = "nn.conv2d_sigmoid_multiply_"}
// CHECK-NEXT:   %c = relay.nn.conv2d
// CHECK-NEXT:   %s = relay.sigmoid %c
// CHECK-NEXT:   %m = relay.multiply %c, %s
// CHECK-NOT:  relay.fn
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %s = relay.sigmoid %c : tensor<1x4x8x8xf32>
  %m = relay.multiply %c, %s : tensor<1x4x8x8xf32>
  return %m : tensor<1x4x8x8xf32>
}
