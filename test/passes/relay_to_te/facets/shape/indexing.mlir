// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @gather(%0: tensor<6xf64>, %1: tensor<11xi64>) -> tensor<11xf64> {
  %2 = relay.gather %0, %1 {axis = 0} : (tensor<6xf64>, tensor<11xi64>) -> tensor<11xf64>
  func.return %2 : tensor<11xf64>
}
// CHECK:      te.func @fused_gather(%p0: tensor<6xf64>, %p1: tensor<11xi64>) -> tensor<11xf64> {
// CHECK-NEXT: %gather = te.compute "gather" [11] (%i0) : tensor<11xf64> attributes {tag = "gather"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<11xi64>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.maxsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 5 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.minsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : i64 to index
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%{{[0-9]+}}] : tensor<6xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %gather : tensor<11xf64>

func.func @gather_nd(%0: tensor<6x4xf64>, %1: tensor<2xi64>) -> tensor<f64> {
  %2 = relay.gather_nd %0, %1 : (tensor<6x4xf64>, tensor<2xi64>) -> tensor<f64>
  func.return %2 : tensor<f64>
}
// CHECK:      te.func @fused_gather_nd(%p0: tensor<6x4xf64>, %p1: tensor<2xi64>) -> tensor<f64> {
// CHECK:      %gather_nd = te.compute "gather_nd" [] () : tensor<f64> attributes {tag = "gather_nd"} {
// CHECK:      te.return %gather_nd : tensor<f64>

func.func @reverse(%0: tensor<5xi64>) -> tensor<5xi64> {
  %1 = relay.reverse %0 {axis = -1} : tensor<5xi64>
  func.return %1 : tensor<5xi64>
}
// CHECK:      te.func @fused_reverse(%p0: tensor<5xi64>) -> tensor<5xi64> {
// CHECK-NEXT: %reverse = te.compute "reverse" [5] (%i0) : tensor<5xi64> attributes {tag = "reverse"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 * -1 + 4] : tensor<5xi64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %reverse : tensor<5xi64>

func.func @strided_slice(%0: tensor<9xui8>) -> tensor<7xui8> {
  %1 = relay.strided_slice %0 {begin = [1], end = [8]} : (tensor<9xui8>) -> tensor<7xui8>
  func.return %1 : tensor<7xui8>
}
// CHECK:      te.func @fused_strided_slice(%p0: tensor<9xui8>) -> tensor<7xui8> {
// CHECK-NEXT: %strided_slice = te.compute "strided_slice" [7] (%i0) : tensor<7xui8> attributes {tag = "strided_slice"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0 + 1] : tensor<9xui8>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i8
// CHECK-NEXT: }
// CHECK-NEXT: te.return %strided_slice : tensor<7xui8>

func.func @take(%0: tensor<5x3xi64>, %1: tensor<0xi64>) -> tensor<5x0xi64> {
  %2 = relay.take %0, %1 {axis = 1} : (tensor<5x3xi64>, tensor<0xi64>) -> tensor<5x0xi64>
  func.return %2 : tensor<5x0xi64>
}
// CHECK:      te.func @fused_take(%p0: tensor<5x3xi64>, %p1: tensor<0xi64>) -> tensor<5x0xi64> {
// CHECK-NEXT: %take = te.compute "take" [5, 0] (%i0, %i1) : tensor<5x0xi64> attributes {tag = "take"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i1] : tensor<0xi64>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.maxsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 2 : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.minsi %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : i64 to index
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %{{[0-9]+}}] : tensor<5x3xi64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %take : tensor<5x0xi64>
