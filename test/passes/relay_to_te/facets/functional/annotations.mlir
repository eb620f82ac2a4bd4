// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @device_copy(%0: tensor<3xf32>) -> tensor<3xf32> {
  %1 = relay.device_copy %0 {src_virtual_device = "cuda:0"} : tensor<3xf32>
  func.return %1 : tensor<3xf32>
}
// CHECK:      te.func @fused_device_copy(%p0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT: %device_copy = te.compute "device_copy" [3] (%i0) : tensor<3xf32> attributes {tag = "device_copy"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %device_copy : tensor<3xf32>
