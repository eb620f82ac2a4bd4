// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @invert_permutation(%0: tensor<2xi64>) -> tensor<2xi64> {
  %1 = relay.invert_permutation %0 : tensor<2xi64>
  func.return %1 : tensor<2xi64>
}
// CHECK:      te.func @fused_invert_permutation(%p0: tensor<2xi64>) -> tensor<2xi64> {
// CHECK:      %invert_permutation = te.extern "invert_permutation" (%p0_buffer = %p0) -> (%out0) : (tensor<2xi64>) -> tensor<2xi64> attributes {tag = "invert_permutation"} {
// CHECK:      te.return %invert_permutation : tensor<2xi64>

func.func @ndarray_size(%0: tensor<7xf32>) -> tensor<i64> {
  %1 = relay.ndarray_size %0 {dtype = "int64"} : (tensor<7xf32>) -> tensor<i64>
  func.return %1 : tensor<i64>
}
// CHECK:      te.func @fused_ndarray_size(%p0: tensor<7xf32>) -> tensor<i64> {
// CHECK-NEXT: %ndarray_size = te.compute "ndarray_size" [] () : tensor<i64> attributes {tag = "ndarray_size"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 7 : i64
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %ndarray_size : tensor<i64>

func.func @shape_of(%0: tensor<7xf32>) -> tensor<1xi64> {
  %1 = relay.shape_of %0 {dtype = "int64"} : (tensor<7xf32>) -> tensor<1xi64>
  func.return %1 : tensor<1xi64>
}
// CHECK:      te.func @fused_shape_of(%p0: tensor<7xf32>) -> tensor<1xi64> {
// CHECK-NEXT: %shape_of = te.compute "shape_of" [1] (%i) : tensor<1xi64> attributes {tag = "shape_of"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i64
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi eq, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 7 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %shape_of : tensor<1xi64>

func.func @unravel_index(%0: tensor<7xi64>, %1: tensor<2xi64>) -> tensor<2x7xi64> {
  %2 = relay.unravel_index %0, %1 : (tensor<7xi64>, tensor<2xi64>) -> tensor<2x7xi64>
  func.return %2 : tensor<2x7xi64>
}
// CHECK:      te.func @fused_unravel_index(%p0: tensor<7xi64>, %p1: tensor<2xi64>) -> tensor<2x7xi64> {
// CHECK:      %unravel_index = te.compute "unravel_index" [2, 7] (%i0, %i1) : tensor<2x7xi64> attributes {tag = "unravel_index"} {
// CHECK:      te.return %unravel_index : tensor<2x7xi64>
