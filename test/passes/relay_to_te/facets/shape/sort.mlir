// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @argsort(%0: tensor<7xf32>) -> tensor<7xi32> {
  %1 = relay.argsort %0 : (tensor<7xf32>) -> tensor<7xi32>
  func.return %1 : tensor<7xi32>
}
// CHECK:      te.func @fused_argsort(%p0: tensor<7xf32>) -> tensor<7xi32> {
// CHECK:      %argsort = te.extern "argsort" (%p0_buffer = %p0) -> (%out0) : (tensor<7xf32>) -> tensor<7xi32> attributes {tag = "argsort"} {
// CHECK:      te.return %argsort : tensor<7xi32>

func.func @searchsorted(%0: tensor<8xf32>, %1: tensor<f32>) -> tensor<i32> {
  %2 = relay.searchsorted %0, %1 : (tensor<8xf32>, tensor<f32>) -> tensor<i32>
  func.return %2 : tensor<i32>
}
// CHECK:      te.func @fused_searchsorted(%p0: tensor<8xf32>, %p1: tensor<f32>) -> tensor<i32> {
// CHECK:      %searchsorted = te.compute "searchsorted" [] () : tensor<i32> attributes {tag = "searchsorted"} {
// CHECK:      te.return %searchsorted : tensor<i32>

func.func @sort(%0: tensor<7xf32>) -> tensor<7xf32> {
  %1 = relay.sort %0 : tensor<7xf32>
  func.return %1 : tensor<7xf32>
}
// CHECK:      te.func @fused_sort(%p0: tensor<7xf32>) -> tensor<7xf32> {
// CHECK:      %sort = te.extern "sort" (%p0_buffer = %p0) -> (%out0) : (tensor<7xf32>) -> tensor<7xf32> attributes {tag = "sort"} {
// CHECK:      te.return %sort : tensor<7xf32>

func.func @topk(%0: tensor<7xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
  %1, %2 = relay.topk %0 : (tensor<7xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  func.return %1, %2 : tensor<1xf32>, tensor<1xi32>
}
// CHECK:      te.func @fused_topk(%p0: tensor<7xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
// CHECK:      %topk_v0, %topk_v1 = te.extern "topk" (%p0_buffer = %p0) -> (%out0, %out1) : (tensor<7xf32>) -> (tensor<1xf32>, tensor<1xi32>) attributes {tag = "topk"} {
// CHECK:      te.return %topk_v0, %topk_v1 : tensor<1xf32>, tensor<1xi32>
