// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @adv_index(%0: tensor<3x2xf32>, %1: tensor<0xi64>) -> tensor<0x2xf32> {
  %2 = relay.adv_index %0, %1 : (tensor<3x2xf32>, tensor<0xi64>) -> tensor<0x2xf32>
  func.return %2 : tensor<0x2xf32>
}
// CHECK:      te.func @fused_adv_index(%p0: tensor<3x2xf32>, %p1: tensor<0xi64>) -> tensor<0x2xf32> {
// CHECK:      %adv_index = te.compute "adv_index" [0, 2] (%i0, %i1) : tensor<0x2xf32> attributes {tag = "adv_index"} {
// CHECK:      te.return %adv_index : tensor<0x2xf32>

func.func @meshgrid(%0: tensor<7xf32>) -> tensor<7xf32> {
  %1 = relay.meshgrid %0 : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}
// CHECK:      te.func @fused_meshgrid(%p0: tensor<7xf32>) -> tensor<7xf32> {
// CHECK-NEXT: %meshgrid = te.compute "meshgrid" [7] (%i0) : tensor<7xf32> attributes {tag = "meshgrid"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %meshgrid : tensor<7xf32>
