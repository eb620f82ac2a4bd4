// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @fast_erf(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.fast_erf %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_fast_erf(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK:      %fast_erf = te.compute "fast_erf" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "fast_erf"} {
// CHECK:      te.return %fast_erf : tensor<5x3xbf16>

func.func @fast_exp(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.fast_exp %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_fast_exp(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK:      %fast_exp = te.compute "fast_exp" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "fast_exp"} {
// CHECK:      te.return %fast_exp : tensor<5x3xbf16>

func.func @fast_tanh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.fast_tanh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_fast_tanh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK:      %fast_tanh = te.compute "fast_tanh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "fast_tanh"} {
// CHECK:      te.return %fast_tanh : tensor<5x3xbf16>
