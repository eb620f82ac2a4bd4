// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @all(%0: tensor<2x3xi1>) -> tensor<i1> {
  %1 = relay.all %0 : (tensor<2x3xi1>) -> tensor<i1>
  func.return %1 : tensor<i1>
}
// CHECK:      te.func @fused_all(%p0: tensor<2x3xi1>) -> tensor<i1> {
// CHECK-NEXT: %all = te.compute "all" [] min [2, 3] (%k0, %k1) : tensor<i1> attributes {tag = "all"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0, %k1] : tensor<2x3xi1>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %all : tensor<i1>

func.func @any(%0: tensor<2x3xi1>) -> tensor<i1> {
  %1 = relay.any %0 : (tensor<2x3xi1>) -> tensor<i1>
  func.return %1 : tensor<i1>
}
// CHECK:      te.func @fused_any(%p0: tensor<2x3xi1>) -> tensor<i1> {
// CHECK-NEXT: %any = te.compute "any" [] max [2, 3] (%k0, %k1) : tensor<i1> attributes {tag = "any"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0, %k1] : tensor<2x3xi1>
// CHECK-NEXT: te.yield %{{[0-9]+}} : i1
// CHECK-NEXT: }
// CHECK-NEXT: te.return %any : tensor<i1>

func.func @argmax(%0: tensor<7xf32>) -> tensor<1xi32> {
  %1 = relay.argmax %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xi32>
  func.return %1 : tensor<1xi32>
}
// CHECK:      te.func @fused_argmax(%p0: tensor<7xf32>) -> tensor<1xi32> {
// CHECK:      %argmax_value = te.compute "argmax_value" [1] max [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "argmax"} {
// CHECK:      %argmax = te.compute "argmax" [1] min [7] (%i0, %k0) : tensor<1xi32> attributes {tag = "argmax"} {
// CHECK:      te.return %argmax : tensor<1xi32>

func.func @argmin(%0: tensor<7xf32>) -> tensor<1xi32> {
  %1 = relay.argmin %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xi32>
  func.return %1 : tensor<1xi32>
}
// CHECK:      te.func @fused_argmin(%p0: tensor<7xf32>) -> tensor<1xi32> {
// CHECK:      %argmin_value = te.compute "argmin_value" [1] min [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "argmin"} {
// CHECK:      %argmin = te.compute "argmin" [1] min [7] (%i0, %k0) : tensor<1xi32> attributes {tag = "argmin"} {
// CHECK:      te.return %argmin : tensor<1xi32>

func.func @max(%0: tensor<7xf32>) -> tensor<1xf32> {
  %1 = relay.max %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
// CHECK:      te.func @fused_max(%p0: tensor<7xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %max = te.compute "max" [1] max [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "max"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %max : tensor<1xf32>

func.func @mean(%0: tensor<7xf32>) -> tensor<1xf32> {
  %1 = relay.mean %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
// CHECK:      te.func @fused_mean(%p0: tensor<7xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %mean_sum = te.compute "mean_sum" [1] sum [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "mean"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %mean = te.compute "mean" [1] (%i0) : tensor<1xf32> attributes {tag = "mean"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %mean_sum[%i0] : tensor<1xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 7.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.divf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %mean : tensor<1xf32>

func.func @min(%0: tensor<7xf32>) -> tensor<1xf32> {
  %1 = relay.min %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
// CHECK:      te.func @fused_min(%p0: tensor<7xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %min = te.compute "min" [1] min [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "min"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %min : tensor<1xf32>

func.func @prod(%0: tensor<7xf32>) -> tensor<1xf32> {
  %1 = relay.prod %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
// CHECK:      te.func @fused_prod(%p0: tensor<7xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %prod = te.compute "prod" [1] prod [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "prod"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %prod : tensor<1xf32>

func.func @sum(%0: tensor<7xf32>) -> tensor<1xf32> {
  %1 = relay.sum %0 {keepdims = true} : (tensor<7xf32>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
// CHECK:      te.func @fused_sum(%p0: tensor<7xf32>) -> tensor<1xf32> {
// CHECK-NEXT: %sum = te.compute "sum" [1] sum [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "sum"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%k0] : tensor<7xf32>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sum : tensor<1xf32>

func.func @variance(%0: tensor<7xf32>, %1: tensor<1xf32>) -> tensor<1xf32> {
  %2 = relay.variance %0, %1 {keepdims = true} : (tensor<7xf32>, tensor<1xf32>) -> tensor<1xf32>
  func.return %2 : tensor<1xf32>
}
// CHECK:      te.func @fused_variance(%p0: tensor<7xf32>, %p1: tensor<1xf32>) -> tensor<1xf32> {
// CHECK:      %variance_sum = te.compute "variance_sum" [1] sum [7] (%i0, %k0) : tensor<1xf32> attributes {tag = "variance"} {
// CHECK:      %variance = te.compute "variance" [1] (%i0) : tensor<1xf32> attributes {tag = "variance"} {
// CHECK:      te.return %variance : tensor<1xf32>
