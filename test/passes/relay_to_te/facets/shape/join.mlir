// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @concatenate(%0: tensor<3xui8>, %1: tensor<2xui8>) -> tensor<5xui8> {
  %2 = relay.concatenate %0, %1 : (tensor<3xui8>, tensor<2xui8>) -> tensor<5xui8>
  func.return %2 : tensor<5xui8>
}
// CHECK:      te.func @fused_concatenate(%p0: tensor<3xui8>, %p1: tensor<2xui8>) -> tensor<5xui8> {
// CHECK-NEXT: %concatenate = te.compute "concatenate" [5] (%i0) : tensor<5xui8> attributes {tag = "concatenate"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0 - 3] where [%i0 - 3 >= 0] : tensor<2xui8>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] where [%i0 * -1 + 2 >= 0] : tensor<3xui8>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [%i0 * -1 + 2 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i8
// CHECK-NEXT: te.yield %{{[0-9]+}} : i8
// CHECK-NEXT: }
// CHECK-NEXT: te.return %concatenate : tensor<5xui8>

func.func @repeat(%0: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %1 = relay.repeat %0 {repeats = 2} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return %1 : tensor<4x3xf32>
}
// CHECK:      te.func @fused_repeat(%p0: tensor<2x3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT: %repeat = te.compute "repeat" [4, 3] (%i0, %i1) : tensor<4x3xf32> attributes {tag = "repeat"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 floordiv 2, %i1] : tensor<2x3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %repeat : tensor<4x3xf32>

func.func @split(%0: tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>) {
  %1, %2 = relay.split %0 {indices_or_sections = [1]} : (tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>)
  func.return %1, %2 : tensor<1xf32>, tensor<4xf32>
}
// CHECK:      te.func @fused_split(%p0: tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>) {
// CHECK-NEXT: %split = te.compute "split" [1] (%i0) : tensor<1xf32> attributes {tag = "split"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<5xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %split_1 = te.compute "split_1" [4] (%i0) : tensor<4xf32> attributes {tag = "split"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 + 1] : tensor<5xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %split, %split_1 : tensor<1xf32>, tensor<4xf32>

func.func @stack(%0: tensor<3xf64>, %1: tensor<3xf64>) -> tensor<3x2xf64> {
  %2 = relay.stack %0, %1 {axis = 1} : (tensor<3xf64>, tensor<3xf64>) -> tensor<3x2xf64>
  func.return %2 : tensor<3x2xf64>
}
// CHECK:      te.func @fused_stack(%p0: tensor<3xf64>, %p1: tensor<3xf64>) -> tensor<3x2xf64> {
// CHECK-NEXT: %stack = te.compute "stack" [3, 2] (%i0, %i1) : tensor<3x2xf64> attributes {tag = "stack"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<3xf64>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf64>
// CHECK-NEXT: %{{[0-9]+}} = te.condition [%i1 * -1 >= 0] : i1
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %stack : tensor<3x2xf64>

func.func @tile(%0: tensor<3xf32>) -> tensor<2x1x6xf32> {
  %1 = relay.tile %0 {reps = [2, 1, 2]} : (tensor<3xf32>) -> tensor<2x1x6xf32>
  func.return %1 : tensor<2x1x6xf32>
}
// CHECK:      te.func @fused_tile(%p0: tensor<3xf32>) -> tensor<2x1x6xf32> {
// CHECK-NEXT: %tile = te.compute "tile" [2, 1, 6] (%i0, %i1, %i2) : tensor<2x1x6xf32> attributes {tag = "tile"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i2 mod 3] : tensor<3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %tile : tensor<2x1x6xf32>
