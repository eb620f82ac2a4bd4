// RUN: opt-tool %s -p relay-combine-parallel-conv2d | filecheck %s
// The convolutions become one; what is added to the branches has as many channels each, but other ranks: it stays.

// CHECK:      relay.nn.conv2d %x, {{.*}} -> tensor<1x6x4x4xf32>
// CHECK-NEXT: [[A:%.*]] = relay.strided_slice
// CHECK-NEXT: [[B:%.*]] = relay.strided_slice
// CHECK-NEXT: [[C:%.*]] = relay.strided_slice
// CHECK-NEXT: relay.add [[A]], %p
// CHECK-NEXT: relay.add [[B]], %q
// CHECK-NEXT: relay.add [[C]], %p
func.func @main(%x: tensor<1x8x4x4xf32>, %p: tensor<2x1x1xf32>, %q: tensor<1x2x1x1xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %a = relay.constant #relay.param<"a", "0000000000000001"> : tensor<2x8x1x1xf32>
  %b = relay.constant #relay.param<"b", "0000000000000002"> : tensor<2x8x1x1xf32>
  %c = relay.constant #relay.param<"c", "0000000000000003"> : tensor<2x8x1x1xf32>
  %0 = relay.nn.conv2d %x, %a : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relay.nn.conv2d %x, %b : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.nn.conv2d %x, %c : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = relay.add %0, %p : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = relay.add %1, %q : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %5 = relay.add %2, %p : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %3, %4, %5 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
