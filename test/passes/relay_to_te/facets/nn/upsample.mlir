// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_upsampling(%0: tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  %1 = relay.nn.upsampling %0 {scale_h = 4.0, scale_w = 4.0} : (tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %1 : tensor<1x1x4x4xf32>
}
// CHECK:      te.func @fused_nn_upsampling(%p0: tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
// CHECK-NEXT: %resize = te.compute "resize" [1, 1, 4, 4] (%i0, %i1, %i2, %i3) : tensor<1x1x4x4xf32> attributes {tag = "nn.upsampling"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1, 0, 0] : tensor<1x1x1x1xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %resize : tensor<1x1x4x4xf32>

func.func @nn_upsampling3d(%0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x2x2xf32> {
  %1 = relay.nn.upsampling3d %0 {method = "trilinear", scale_d = 2.0, scale_h = 2.0, scale_w = 2.0} : (tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x2x2xf32>
  func.return %1 : tensor<1x1x2x2x2xf32>
}
// CHECK:      te.func @fused_nn_upsampling3d(%p0: tensor<1x1x1x1x1xf32>) -> tensor<1x1x2x2x2xf32> {
// CHECK:      %d_place = te.compute "d_place" [2] (%i) : tensor<2xi64> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %d_part = te.compute "d_part" [2] (%i) : tensor<2xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %resize_d = te.compute "resize_d" [1, 1, 2, 1, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x1x1xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %h_place = te.compute "h_place" [2] (%i) : tensor<2xi64> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %h_part = te.compute "h_part" [2] (%i) : tensor<2xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %resize_h = te.compute "resize_h" [1, 1, 2, 2, 1] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x2x1xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %w_place = te.compute "w_place" [2] (%i) : tensor<2xi64> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %w_part = te.compute "w_part" [2] (%i) : tensor<2xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      %resize_w = te.compute "resize_w" [1, 1, 2, 2, 2] (%i0, %i1, %i2, %i3, %i4) : tensor<1x1x2x2x2xf32> attributes {tag = "nn.upsampling3d"} {
// CHECK:      te.return %resize_w : tensor<1x1x2x2x2xf32>
