// RUN: opt-tool %s -p relay-fuse-state-reads | filecheck %s
// The product, the reshape and the slice are one kernel. What reads a slice that is no part of a state's memory, or that
// something else reads too, is fused by the usual rules.

// CHECK:      %[[F:.*]] = relay.fn (%p0: tensor<1x4x32x64xf32>, %p1: tensor<4x1x64xf32>)
// CHECK-SAME:   attributes {Primitive = 1 : i64}
// CHECK-NEXT:   relay.strided_slice %p0
// CHECK-NEXT:   relay.reshape
// CHECK-NEXT:   relay.nn.batch_matmul %p1
// CHECK:      %y = relay.call %[[F]](%s, %q)
// CHECK-NOT:  relay.fn
// CHECK:      relay.strided_slice %t
// CHECK:      relay.strided_slice %past
func.func @main(%q: tensor<4x1x64xf32>, %past: tensor<1x4x20x64xf32>, %new: tensor<1x4x1x64xf32>)
    -> (tensor<4x1x21xf32>, tensor<4x1x21xf32>, tensor<4x21x64xf32>, tensor<4x1x20xf32>) {
  %s = relay.state_append %past, %new {axis = 2, kept = [0], capacity = [32]}
    : (tensor<1x4x20x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x32x64xf32>
  %a = relay.strided_slice %s {axes = [2], begin = [0], end = [21], strides = [1]} : (tensor<1x4x32x64xf32>) -> tensor<1x4x21x64xf32>
  %b = relay.reshape %a {newshape = [4, 21, 64]} : (tensor<1x4x21x64xf32>) -> tensor<4x21x64xf32>
  %y = relay.nn.batch_matmul %q, %b : (tensor<4x1x64xf32>, tensor<4x21x64xf32>) -> tensor<4x1x21xf32>
  %t = relay.state_append %past, %new {axis = 2, kept = [0], capacity = [32]}
    : (tensor<1x4x20x64xf32>, tensor<1x4x1x64xf32>) -> tensor<1x4x32x64xf32>
  %c = relay.strided_slice %t {axes = [2], begin = [0], end = [21], strides = [1]} : (tensor<1x4x32x64xf32>) -> tensor<1x4x21x64xf32>
  %d = relay.reshape %c {newshape = [4, 21, 64]} : (tensor<1x4x21x64xf32>) -> tensor<4x21x64xf32>
  %z = relay.nn.batch_matmul %q, %d : (tensor<4x1x64xf32>, tensor<4x21x64xf32>) -> tensor<4x1x21xf32>
  %e = relay.strided_slice %past {axes = [2], begin = [0], end = [20], strides = [1]} : (tensor<1x4x20x64xf32>) -> tensor<1x4x20x64xf32>
  %f = relay.reshape %e {newshape = [4, 20, 64]} : (tensor<1x4x20x64xf32>) -> tensor<4x20x64xf32>
  %w = relay.nn.batch_matmul %q, %f : (tensor<4x1x64xf32>, tensor<4x20x64xf32>) -> tensor<4x1x20xf32>
  return %y, %z, %d, %w : tensor<4x1x21xf32>, tensor<4x1x21xf32>, tensor<4x21x64xf32>, tensor<4x1x20xf32>
}
