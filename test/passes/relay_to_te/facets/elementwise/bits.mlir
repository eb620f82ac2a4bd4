// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @reinterpret(%0: tensor<5x3xbf16>) -> tensor<5x3xui16> {
  %1 = relay.reinterpret %0 {dtype = "uint16"} : (tensor<5x3xbf16>) -> tensor<5x3xui16>
  func.return %1 : tensor<5x3xui16>
}
// CHECK:      te.func @fused_reinterpret(%p0: tensor<5x3xbf16>) -> tensor<5x3xui16> {
// CHECK-NEXT: %reinterpret = te.compute "reinterpret" [5, 3] (%i0, %i1) : tensor<5x3xui16> attributes {tag = "reinterpret"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = arith.bitcast %{{[0-9]+}} : bf16 to i16
// CHECK-NEXT: te.yield %{{[0-9]+}} : i16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reinterpret : tensor<5x3xui16>
