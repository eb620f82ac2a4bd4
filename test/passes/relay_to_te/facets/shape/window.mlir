// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @contrib_reverse_reshape(%0: tensor<7xf32>) -> tensor<7xf32> {
  %1 = relay.contrib_reverse_reshape %0 {newshape = [-1]} : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}
// CHECK:      te.func @fused_contrib_reverse_reshape(%p0: tensor<7xf32>) -> tensor<7xf32> {
// CHECK-NEXT: %reverse_reshape = te.compute "reverse_reshape" [7] (%i0) : tensor<7xf32> attributes {tag = "contrib_reverse_reshape"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reverse_reshape : tensor<7xf32>

func.func @sliding_window(%0: tensor<7xf32>) -> tensor<5x3xf32> {
  %1 = relay.sliding_window %0 {axis = 0, strides = [1], window_shape = [3]} : (tensor<7xf32>) -> tensor<5x3xf32>
  func.return %1 : tensor<5x3xf32>
}
// CHECK:      te.func @fused_sliding_window(%p0: tensor<7xf32>) -> tensor<5x3xf32> {
// CHECK-NEXT: %sliding_window = te.compute "sliding_window" [5, 3] (%i0, %i1) : tensor<5x3xf32> attributes {tag = "sliding_window"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 + %i1] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sliding_window : tensor<5x3xf32>
