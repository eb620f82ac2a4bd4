// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @arange() -> tensor<7xf32> {
  %0 = relay.arange {stop = 7.0} : tensor<7xf32>
  func.return %0 : tensor<7xf32>
}
// CHECK:      te.func @fused_arange() -> tensor<7xf32> {
// CHECK-NEXT: %arange = te.compute "arange" [7] (%i) : tensor<7xf32> attributes {tag = "arange"} {
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.sitofp %{{[0-9]+}} : i64 to f64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.addf %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: %{{[0-9]+}} = arith.truncf %{{[0-9]+}} : f64 to f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %arange : tensor<7xf32>

func.func @full(%0: tensor<f32>) -> tensor<2x3x5xf32> {
  %1 = relay.full %0 {shape = [2, 3, 5]} : (tensor<f32>) -> tensor<2x3x5xf32>
  func.return %1 : tensor<2x3x5xf32>
}
// CHECK:      te.func @fused_full(%p0: tensor<f32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT: %full = te.compute "full" [2, 3, 5] (%i0, %i1, %i2) : tensor<2x3x5xf32> attributes {tag = "full"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[] : tensor<f32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %full : tensor<2x3x5xf32>

func.func @one_hot(%0: tensor<5xi32>, %1: tensor<f64>, %2: tensor<f64>) -> tensor<5x6xf64> {
  %3 = relay.one_hot %0, %1, %2 {depth = 6} : (tensor<5xi32>, tensor<f64>, tensor<f64>) -> tensor<5x6xf64>
  func.return %3 : tensor<5x6xf64>
}
// CHECK:      te.func @fused_one_hot(%p0: tensor<5xi32>, %p1: tensor<f64>, %p2: tensor<f64>) -> tensor<5x6xf64> {
// CHECK-NEXT: %one_hot = te.compute "one_hot" [5, 6] (%i0, %i1) : tensor<5x6xf64> attributes {tag = "one_hot"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<5xi32>
// CHECK-NEXT: %{{[0-9]+}} = arith.extsi %{{[0-9]+}} : i32 to i64
// CHECK-NEXT: %{{[0-9]+}} = te.index [%i1] : index
// CHECK-NEXT: %{{[0-9]+}} = arith.index_cast %{{[0-9]+}} : index to i64
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi eq, %{{[0-9]+}}, %{{[0-9]+}} : i64
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[] : tensor<f64>
// CHECK-NEXT: %{{[0-9]+}} = te.read %p2[] : tensor<f64>
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f64
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %one_hot : tensor<5x6xf64>

func.func @ones() -> tensor<2x3x5xf32> {
  %0 = relay.ones {shape = [2, 3, 5]} : tensor<2x3x5xf32>
  func.return %0 : tensor<2x3x5xf32>
}
// CHECK:      te.func @fused_ones() -> tensor<2x3x5xf32> {
// CHECK-NEXT: %ones = te.compute "ones" [2, 3, 5] (%i0, %i1, %i2) : tensor<2x3x5xf32> attributes {tag = "ones"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %ones : tensor<2x3x5xf32>

func.func @zeros() -> tensor<2x3x5xf32> {
  %0 = relay.zeros {shape = [2, 3, 5]} : tensor<2x3x5xf32>
  func.return %0 : tensor<2x3x5xf32>
}
// CHECK:      te.func @fused_zeros() -> tensor<2x3x5xf32> {
// CHECK-NEXT: %zeros = te.compute "zeros" [2, 3, 5] (%i0, %i1, %i2) : tensor<2x3x5xf32> attributes {tag = "zeros"} {
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %zeros : tensor<2x3x5xf32>
