// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @reverse_sequence(%0: tensor<3x7xf32>, %1: tensor<3xi64>) -> tensor<3x7xf32> {
  %2 = relay.reverse_sequence %0, %1 : (tensor<3x7xf32>, tensor<3xi64>) -> tensor<3x7xf32>
  func.return %2 : tensor<3x7xf32>
}
// CHECK:      te.func @fused_reverse_sequence(%p0: tensor<3x7xf32>, %p1: tensor<3xi64>) -> tensor<3x7xf32> {
// CHECK:      %reverse_sequence = te.compute "reverse_sequence" [3, 7] (%i0, %i1) : tensor<3x7xf32> attributes {tag = "reverse_sequence"} {
// CHECK:      te.return %reverse_sequence : tensor<3x7xf32>

func.func @sequence_mask(%0: tensor<7x3xf32>, %1: tensor<3xi64>) -> tensor<7x3xf32> {
  %2 = relay.sequence_mask %0, %1 : (tensor<7x3xf32>, tensor<3xi64>) -> tensor<7x3xf32>
  func.return %2 : tensor<7x3xf32>
}
// CHECK:      te.func @fused_sequence_mask(%p0: tensor<7x3xf32>, %p1: tensor<3xi64>) -> tensor<7x3xf32> {
// CHECK-NEXT: %sequence_mask = te.compute "sequence_mask" [7, 3] (%i0, %i1) : tensor<7x3xf32> attributes {tag = "sequence_mask"} {
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i0] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<3xi64>
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi slt, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<7x3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sequence_mask : tensor<7x3xf32>
