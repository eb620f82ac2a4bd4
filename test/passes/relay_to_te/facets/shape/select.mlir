// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @matrix_set_diag(%0: tensor<3x3xi32>, %1: tensor<3xi32>) -> tensor<3x3xi32> {
  %2 = relay.matrix_set_diag %0, %1 : (tensor<3x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  func.return %2 : tensor<3x3xi32>
}
// CHECK:      te.func @fused_matrix_set_diag(%p0: tensor<3x3xi32>, %p1: tensor<3xi32>) -> tensor<3x3xi32> {
// CHECK:      %matrix_set_diag = te.compute "matrix_set_diag" [3, 3] (%i0, %i1) : tensor<3x3xi32> attributes {tag = "matrix_set_diag"} {
// CHECK:      te.return %matrix_set_diag : tensor<3x3xi32>

func.func @strided_set(%0: tensor<7xf32>, %1: tensor<6xf32>, %2: tensor<1xi64>, %3: tensor<1xi64>, %4: tensor<1xi64>) -> tensor<7xf32> {
  %5 = relay.strided_set %0, %1, %2, %3, %4 : (tensor<7xf32>, tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xf32>
  func.return %5 : tensor<7xf32>
}
// CHECK:      te.func @fused_strided_set(%p0: tensor<7xf32>, %p1: tensor<6xf32>, %p2: tensor<1xi64>, %p3: tensor<1xi64>, %p4: tensor<1xi64>) -> tensor<7xf32> {
// CHECK:      %strided_set = te.compute "strided_set" [7] (%i0) : tensor<7xf32> attributes {tag = "strided_set"} {
// CHECK:      te.return %strided_set : tensor<7xf32>

func.func @trilu(%0: tensor<3x3xf64>, %1: tensor<i32>) -> tensor<3x3xf64> {
  %2 = relay.trilu %0, %1 : (tensor<3x3xf64>, tensor<i32>) -> tensor<3x3xf64>
  func.return %2 : tensor<3x3xf64>
}
// CHECK:      te.func @fused_trilu(%p0: tensor<3x3xf64>, %p1: tensor<i32>) -> tensor<3x3xf64> {
// CHECK-NEXT: %trilu = te.compute "trilu" [3, 3] (%i0, %i1) : tensor<3x3xf64> attributes {tag = "trilu"} {
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i1 + %i0 * -1] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[] : tensor<i32>
// CHECK-NEXT: %{{[0-9]+}} = arith.extsi %{{[0-9]+}} : i32 to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sge, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<3x3xf64>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %trilu : tensor<3x3xf64>
