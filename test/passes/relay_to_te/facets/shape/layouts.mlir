// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @auto_scheduler_layout_transform(%0: tensor<8xi32>) -> tensor<2x2x2xi32> {
  %1 = relay.auto_scheduler_layout_transform %0 {dst_layout = "2x2x2x", src_layout = "8x"} : (tensor<8xi32>) -> tensor<2x2x2xi32>
  func.return %1 : tensor<2x2x2xi32>
}
// CHECK:      te.func @fused_auto_scheduler_layout_transform(%p0: tensor<8xi32>) -> tensor<2x2x2xi32> {
// CHECK-NEXT: %auto_scheduler_layout_transform = te.compute "auto_scheduler_layout_transform" [2, 2, 2] (%i0, %i1, %i2) : tensor<2x2x2xi32> attributes {tag = "auto_scheduler_layout_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 * 4 + %i1 * 2 + %i2] : tensor<8xi32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %auto_scheduler_layout_transform : tensor<2x2x2xi32>

func.func @layout_transform(%0: tensor<7xf64>) -> tensor<2x4xf64> {
  %1 = relay.layout_transform %0 {dst_layout = "C4c", src_layout = "C"} : (tensor<7xf64>) -> tensor<2x4xf64>
  func.return %1 : tensor<2x4xf64>
}
// CHECK:      te.func @fused_layout_transform(%p0: tensor<7xf64>) -> tensor<2x4xf64> {
// CHECK-NEXT: %layout_transform = te.compute "layout_transform" [2, 4] (%i0, %i1) : tensor<2x4xf64> attributes {tag = "layout_transform"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i1 + %i0 * 4] where [%i1 * -1 + %i0 * -4 + 6 >= 0] : tensor<7xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %layout_transform : tensor<2x4xf64>
