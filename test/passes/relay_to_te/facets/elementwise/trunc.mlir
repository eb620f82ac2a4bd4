// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @trunc_divide(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.trunc_divide %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_trunc_divide(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %trunc_divide = te.compute "trunc_divide" [2] (%i0) : tensor<2xi8> attributes {tag = "trunc_divide"} {
// CHECK:      te.return %trunc_divide : tensor<2xi8>

func.func @trunc_mod(%0: tensor<2xi8>, %1: tensor<2xi8>) -> tensor<2xi8> {
  %2 = relay.trunc_mod %0, %1 : tensor<2xi8>
  func.return %2 : tensor<2xi8>
}
// CHECK:      te.func @fused_trunc_mod(%p0: tensor<2xi8>, %p1: tensor<2xi8>) -> tensor<2xi8> {
// CHECK:      %trunc_mod = te.compute "trunc_mod" [2] (%i0) : tensor<2xi8> attributes {tag = "trunc_mod"} {
// CHECK:      te.return %trunc_mod : tensor<2xi8>
