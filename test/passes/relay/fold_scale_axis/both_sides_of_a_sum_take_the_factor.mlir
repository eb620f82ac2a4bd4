// RUN: opt-tool %s -p relay-fold-scale-axis | filecheck %s

// One side is a convolution with a bias and a relu, the other a convolution alone.
// CHECK-LABEL: @both
// CHECK-NEXT:    [[W:%.*]] = relay.constant #relay.param<"w/multiply",
// CHECK-NEXT:    [[C:%.*]] = relay.nn.conv2d %x, [[W]]
// CHECK-NEXT:    [[B:%.*]] = relay.constant dense<1.000000e+00> : tensor<8x1x1xf32>
// CHECK-NEXT:    [[D:%.*]] = relay.add [[C]], [[B]]
// CHECK-NEXT:    relay.nn.relu [[D]]
// CHECK-NEXT:    [[V:%.*]] = relay.constant #relay.param<"v/multiply",
// CHECK-NEXT:    relay.nn.conv2d %x, [[V]] {padding = [1, 1]}
// CHECK-NEXT:    %y = relay.add
// CHECK-NEXT:    func.return %y
func.func @both(%x: tensor<1x3x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdee"> : tensor<8x3x3x3xf32>
  %b = relay.constant dense<0.5> : tensor<8x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<8x1x1xf32>
  %s1 = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %s2 = relay.add %s1, %b : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %s3 = relay.nn.relu %s2 : tensor<1x8x6x6xf32>
  %t = relay.nn.conv2d %x, %v {padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  %sum = relay.add %s3, %t : tensor<1x8x6x6xf32>
  %y = relay.multiply %sum, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}

// The other side is no product: a factor for each side would be one more.
// CHECK-LABEL: @one
// CHECK:         %sum = relay.add
// CHECK-NEXT:    %y = relay.multiply %sum, %s
func.func @one(%x: tensor<1x3x6x6xf32>, %z: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<8x1x1xf32>
  %t = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %sum = relay.add %t, %z : tensor<1x8x6x6xf32>
  %y = relay.multiply %sum, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}

// What stands on one side is read elsewhere too, unscaled.
// CHECK-LABEL: @read_twice
// CHECK:         %y = relay.multiply %sum, %s
func.func @read_twice(%x: tensor<1x3x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdee"> : tensor<8x3x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<8x1x1xf32>
  %t = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %u = relay.nn.conv2d %x, %v : (tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x6xf32>
  %sum = relay.add %t, %u : tensor<1x8x6x6xf32>
  %y = relay.multiply %sum, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %u, %y : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}
