// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_batch_to_space_nd(%0: tensor<4x7xf32>) -> tensor<1x27xf32> {
  %1 = relay.nn.batch_to_space_nd %0 {block_shape = [4], crops = [0, 1]} : (tensor<4x7xf32>) -> tensor<1x27xf32>
  func.return %1 : tensor<1x27xf32>
}
// CHECK:      te.func @fused_nn_batch_to_space_nd(%p0: tensor<4x7xf32>) -> tensor<1x27xf32> {
// CHECK-NEXT: %batch_to_space_nd = te.compute "batch_to_space_nd" [1, 27] (%i0, %i1) : tensor<1x27xf32> attributes {tag = "nn.batch_to_space_nd"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 + %i1 mod 4, %i1 floordiv 4] : tensor<4x7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %batch_to_space_nd : tensor<1x27xf32>

func.func @nn_depth_to_space(%0: tensor<1x4x1x1xf64>) -> tensor<1x1x2x2xf64> {
  %1 = relay.nn.depth_to_space %0 {block_size = 2} : (tensor<1x4x1x1xf64>) -> tensor<1x1x2x2xf64>
  func.return %1 : tensor<1x1x2x2xf64>
}
// CHECK:      te.func @fused_nn_depth_to_space(%p0: tensor<1x4x1x1xf64>) -> tensor<1x1x2x2xf64> {
// CHECK-NEXT: %depth_to_space = te.compute "depth_to_space" [1, 1, 2, 2] (%i0, %i1, %i2, %i3) : tensor<1x1x2x2xf64> attributes {tag = "nn.depth_to_space"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i2 * 2 + %i3 + %i1, 0, 0] : tensor<1x4x1x1xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %depth_to_space : tensor<1x1x2x2xf64>

func.func @nn_space_to_batch_nd(%0: tensor<3x7xf32>) -> tensor<12x2xf32> {
  %1 = relay.nn.space_to_batch_nd %0 {block_shape = [4], paddings = [0, 1]} : (tensor<3x7xf32>) -> tensor<12x2xf32>
  func.return %1 : tensor<12x2xf32>
}
// CHECK:      te.func @fused_nn_space_to_batch_nd(%p0: tensor<3x7xf32>) -> tensor<12x2xf32> {
// CHECK-NEXT: %space_to_batch_nd = te.compute "space_to_batch_nd" [12, 2] (%i0, %i1) : tensor<12x2xf32> attributes {tag = "nn.space_to_batch_nd"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 mod 3, %i1 * 4 + %i0 floordiv 3] where [%i1 * -4 + %i0 floordiv 3 * -1 + 6 >= 0] : tensor<3x7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %space_to_batch_nd : tensor<12x2xf32>

func.func @nn_space_to_depth(%0: tensor<1x1x2x2xf32>) -> tensor<1x4x1x1xf32> {
  %1 = relay.nn.space_to_depth %0 {block_size = 2} : (tensor<1x1x2x2xf32>) -> tensor<1x4x1x1xf32>
  func.return %1 : tensor<1x4x1x1xf32>
}
// CHECK:      te.func @fused_nn_space_to_depth(%p0: tensor<1x1x2x2xf32>) -> tensor<1x4x1x1xf32> {
// CHECK-NEXT: %space_to_depth = te.compute "space_to_depth" [1, 4, 1, 1] (%i0, %i1, %i2, %i3) : tensor<1x4x1x1xf32> attributes {tag = "nn.space_to_depth"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, 0, %i2 * 2 + %i1 floordiv 2, %i3 * 2 + %i1 mod 2] : tensor<1x1x2x2xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %space_to_depth : tensor<1x4x1x1xf32>
