// RUN: opt-tool %s -p relay-fold-scale-axis --split-input-file | filecheck %s

// One of the two is depthwise: its factor goes along the output channels.
// CHECK-LABEL: @all
// CHECK-NOT:     relay.multiply %
// CHECK:         [[R:%.*]] = relay.nn.relu %x
// CHECK:         %c = relay.nn.conv2d [[R]]
// CHECK:         %d = relay.nn.conv2d [[R]], {{.*}} {groups = 4}
func.func @all(%x: tensor<1x4x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x4x3x3xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdee"> : tensor<4x1x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<4x1x1xf32>
  %p = relay.multiply %x, %s : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %r = relay.nn.relu %p : tensor<1x4x3x3xf32>
  %c = relay.nn.conv2d %r, %w : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x3x3xf32>
  %d = relay.nn.conv2d %r, %v {groups = 4} : (tensor<1x4x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %c, %d : tensor<1x2x3x3xf32>, tensor<1x4x3x3xf32>
}

// -----

// The result of the function is the product itself: it has to be computed anyway.
// CHECK-LABEL: @result
// CHECK:         %p = relay.multiply %x, %s
// CHECK-NEXT:    %c = relay.nn.conv2d %p, %w
func.func @result(%x: tensor<1x4x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x4x3x3xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<4x1x1xf32>
  %p = relay.multiply %x, %s : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %c = relay.nn.conv2d %p, %w : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %c, %p : tensor<1x2x3x3xf32>, tensor<1x4x3x3xf32>
}

// -----

// A sigmoid is in the way of one of the readers.
// CHECK-LABEL: @in_the_way
// CHECK:         %p = relay.multiply %x, %s
func.func @in_the_way(%x: tensor<1x4x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<4x1x1xf32>
  %p = relay.multiply %x, %s : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %g = relay.sigmoid %p : tensor<1x4x3x3xf32>
  %c = relay.nn.conv2d %p, %w : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x3x3xf32>
  %d = relay.nn.conv2d %g, %w : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %c, %d : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}
