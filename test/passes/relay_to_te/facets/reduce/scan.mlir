// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @cumprod(%0: tensor<2x3xf32>) -> tensor<6xf32> {
  %1 = relay.cumprod %0 {exclusive = true} : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %1 : tensor<6xf32>
}
// CHECK:      te.func @fused_cumprod(%p0: tensor<2x3xf32>) -> tensor<6xf32> {
// CHECK:      %cumprod_flat = te.compute "cumprod_flat" [6] (%i0) : tensor<6xf32> attributes {tag = "cumprod"} {
// CHECK:      %cumprod = te.extern "cumprod" (%cumprod_flat_buffer = %cumprod_flat) -> (%out0) : (tensor<6xf32>) -> tensor<6xf32> attributes {tag = "cumprod"} {
// CHECK:      te.return %cumprod : tensor<6xf32>

func.func @cumsum(%0: tensor<2x3xf32>) -> tensor<6xf32> {
  %1 = relay.cumsum %0 {exclusive = true} : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %1 : tensor<6xf32>
}
// CHECK:      te.func @fused_cumsum(%p0: tensor<2x3xf32>) -> tensor<6xf32> {
// CHECK:      %cumsum_flat = te.compute "cumsum_flat" [6] (%i0) : tensor<6xf32> attributes {tag = "cumsum"} {
// CHECK:      %cumsum = te.extern "cumsum" (%cumsum_flat_buffer = %cumsum_flat) -> (%out0) : (tensor<6xf32>) -> tensor<6xf32> attributes {tag = "cumsum"} {
// CHECK:      te.return %cumsum : tensor<6xf32>
