// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @broadcast_to(%0: tensor<5xf64>) -> tensor<3x5xf64> {
  %1 = relay.broadcast_to %0 {shape = [3, 5]} : (tensor<5xf64>) -> tensor<3x5xf64>
  func.return %1 : tensor<3x5xf64>
}
// CHECK:      te.func @fused_broadcast_to(%p0: tensor<5xf64>) -> tensor<3x5xf64> {
// CHECK-NEXT: %broadcast_to = te.compute "broadcast_to" [3, 5] (%i0, %i1) : tensor<3x5xf64> attributes {tag = "broadcast_to"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i1] : tensor<5xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %broadcast_to : tensor<3x5xf64>

func.func @expand_dims(%0: tensor<3x2xf64>) -> tensor<3x1x1x1x2xf64> {
  %1 = relay.expand_dims %0 {axis = 1, num_newaxis = 3} : (tensor<3x2xf64>) -> tensor<3x1x1x1x2xf64>
  func.return %1 : tensor<3x1x1x1x2xf64>
}
// CHECK:      te.func @fused_expand_dims(%p0: tensor<3x2xf64>) -> tensor<3x1x1x1x2xf64> {
// CHECK-NEXT: %expand_dims = te.compute "expand_dims" [3, 1, 1, 1, 2] (%i0, %i1, %i2, %i3, %i4) : tensor<3x1x1x1x2xf64> attributes {tag = "expand_dims"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i4] : tensor<3x2xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %expand_dims : tensor<3x1x1x1x2xf64>

func.func @reshape(%0: tensor<7xf32>) -> tensor<7xf32> {
  %1 = relay.reshape %0 {newshape = [-2]} : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}
// CHECK:      te.func @fused_reshape(%p0: tensor<7xf32>) -> tensor<7xf32> {
// CHECK-NEXT: %reshape = te.compute "reshape" [7] (%i0) : tensor<7xf32> attributes {tag = "reshape"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reshape : tensor<7xf32>

func.func @squeeze(%0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = relay.squeeze %0 : tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}
// CHECK:      te.func @fused_squeeze(%p0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: %squeeze = te.compute "squeeze" [2, 3] (%i0, %i1) : tensor<2x3xf32> attributes {tag = "squeeze"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<2x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %squeeze : tensor<2x3xf32>

func.func @transpose(%0: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %1 = relay.transpose %0 {axes = [0, 1]} : tensor<3x2xi32>
  func.return %1 : tensor<3x2xi32>
}
// CHECK:      te.func @fused_transpose(%p0: tensor<3x2xi32>) -> tensor<3x2xi32> {
// CHECK-NEXT: %transpose = te.compute "transpose" [3, 2] (%i0, %i1) : tensor<3x2xi32> attributes {tag = "transpose"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x2xi32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %transpose : tensor<3x2xi32>
