// RUN: opt-tool %s -p relay-fold-scale-axis --split-input-file | filecheck %s

// CHECK-LABEL: @ahead
// CHECK-NEXT:    %s = relay.constant dense<{{.*}}> : tensor<3x1x1xf32>
// CHECK-NEXT:    [[R:%.*]] = relay.nn.relu %x : tensor<1x3x6x6xf32>
// CHECK-NEXT:    [[B:%.*]] = relay.divide %b, %s : tensor<3x1x1xf32>
// CHECK-NEXT:    [[A:%.*]] = relay.add [[R]], [[B]]
// CHECK-NEXT:    [[W:%.*]] = relay.constant #relay.param<"w/multiply",
// CHECK-NEXT:    %y = relay.nn.conv2d [[A]], [[W]]
func.func @ahead(%x: tensor<1x3x6x6xf32>, %b: tensor<3x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %p = relay.multiply %x, %s : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %r = relay.nn.relu %p : tensor<1x3x6x6xf32>
  %t = relay.add %r, %b : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %y = relay.nn.conv2d %t, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// A channel that is multiplied by zero has no bias to be divided; one of them keeps all.
// CHECK-LABEL: @zero
// CHECK:         relay.multiply %x, %s
// CHECK:         relay.add
// CHECK:         relay.nn.conv2d %t, %w
func.func @zero(%x: tensor<1x3x6x6xf32>, %b: tensor<3x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<[[[1.0]], [[0.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %p = relay.multiply %x, %s : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %t = relay.add %p, %b : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %y = relay.nn.conv2d %t, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// Behind a product a bias is multiplied, whatever its value.
// CHECK-LABEL: @behind
// CHECK:         %s = relay.constant dense<{{.*}}> : tensor<8xf32>
// CHECK:         [[D:%.*]] = relay.nn.dense %x, {{%.*}}
// CHECK-NEXT:    [[B:%.*]] = relay.multiply %b, %s : tensor<8xf32>
// CHECK-NEXT:    %y = relay.add [[D]], [[B]]
func.func @behind(%x: tensor<2x5xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x5xf32>
  %s = relay.constant dense<[1.0, 0.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %d = relay.nn.dense %x, %w : (tensor<2x5xf32>, tensor<8x5xf32>) -> tensor<2x8xf32>
  %t = relay.add %d, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %y = relay.multiply %t, %s : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
