// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_batch_flatten(%0: tensor<3xf32>) -> tensor<3x1xf32> {
  %1 = relay.nn.batch_flatten %0 : (tensor<3xf32>) -> tensor<3x1xf32>
  func.return %1 : tensor<3x1xf32>
}
// CHECK:      te.func @fused_nn_batch_flatten(%p0: tensor<3xf32>) -> tensor<3x1xf32> {
// CHECK-NEXT: %batch_flatten = te.compute "batch_flatten" [3, 1] (%n, %flat) : tensor<3x1xf32> attributes {tag = "nn.batch_flatten"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%n] : tensor<3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %batch_flatten : tensor<3x1xf32>

func.func @nn_dilate(%0: tensor<3xf32>) -> tensor<3xf32> {
  %1 = relay.nn.dilate %0 {strides = [1]} : tensor<3xf32>
  func.return %1 : tensor<3xf32>
}
// CHECK:      te.func @fused_nn_dilate(%p0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT: %dilate = te.compute "dilate" [3] (%i0) : tensor<3xf32> attributes {tag = "nn.dilate"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %dilate : tensor<3xf32>

func.func @nn_mirror_pad(%0: tensor<3xf64>) -> tensor<5xf64> {
  %1 = relay.nn.mirror_pad %0 {mode = "REFLECT", pad_width = [0, 2]} : (tensor<3xf64>) -> tensor<5xf64>
  func.return %1 : tensor<5xf64>
}
// CHECK:      te.func @fused_nn_mirror_pad(%p0: tensor<3xf64>) -> tensor<5xf64> {
// CHECK-NEXT: %pad = te.compute "pad" [5] (%i0) : tensor<5xf64> attributes {tag = "nn.mirror_pad"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] where [%i0 * -1 + 2 >= 0] : tensor<3xf64>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 * -1 + 4] where [%i0 - 3 >= 0] : tensor<3xf64>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [%i0 * -1 + 2 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %pad : tensor<5xf64>

func.func @nn_pad(%0: tensor<3xf64>) -> tensor<3xf64> {
  %1 = relay.nn.pad %0 {pad_mode = "edge", pad_width = [0, 0]} : tensor<3xf64>
  func.return %1 : tensor<3xf64>
}
// CHECK:      te.func @fused_nn_pad(%p0: tensor<3xf64>) -> tensor<3xf64> {
// CHECK-NEXT: %pad = te.compute "pad" [3] (%i0) : tensor<3xf64> attributes {tag = "nn.pad"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %pad : tensor<3xf64>
