// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_dropout(%0: tensor<3xf64>) -> tensor<3xf64> {
  %1 = relay.nn.dropout %0 : tensor<3xf64>
  func.return %1 : tensor<3xf64>
}
// CHECK:      te.func @fused_nn_dropout(%p0: tensor<3xf64>) -> tensor<3xf64> {
// CHECK-NEXT: %dropout = te.compute "dropout" [3] (%i0) : tensor<3xf64> attributes {tag = "nn.dropout"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf64>
// CHECK-NEXT: te.yield %{{[0-9]+}} : f64
// CHECK-NEXT: }
// CHECK-NEXT: te.return %dropout : tensor<3xf64>

func.func @nn_fast_softmax(%0: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %1 = relay.nn.fast_softmax %0 : tensor<2x5xf32>
  func.return %1 : tensor<2x5xf32>
}
// CHECK:      te.func @fused_nn_fast_softmax(%p0: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK:      %softmax_max = te.compute "softmax_max" [2] max [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.fast_softmax"} {
// CHECK:      %softmax_exp = te.compute "softmax_exp" [2, 5] (%i0, %i1) : tensor<2x5xf32> attributes {tag = "nn.fast_softmax"} {
// CHECK:      %softmax_sum = te.compute "softmax_sum" [2] sum [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.fast_softmax"} {
// CHECK:      %softmax = te.compute "softmax" [2, 5] (%i0, %i1) : tensor<2x5xf32> attributes {tag = "nn.fast_softmax"} {
// CHECK:      te.return %softmax : tensor<2x5xf32>

func.func @nn_leaky_relu(%0: tensor<4xf32>) -> tensor<4xf32> {
  %1 = relay.nn.leaky_relu %0 {alpha = -1.5} : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK:      te.func @fused_nn_leaky_relu(%p0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %leaky_relu = te.compute "leaky_relu" [4] (%i0) : tensor<4xf32> attributes {tag = "nn.leaky_relu"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<4xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf ogt, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.constant -1.500000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %leaky_relu : tensor<4xf32>

func.func @nn_log_softmax(%0: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %1 = relay.nn.log_softmax %0 : tensor<2x5xf32>
  func.return %1 : tensor<2x5xf32>
}
// CHECK:      te.func @fused_nn_log_softmax(%p0: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK:      %softmax_max = te.compute "softmax_max" [2] max [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.log_softmax"} {
// CHECK:      %softmax_sum = te.compute "softmax_sum" [2] sum [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.log_softmax"} {
// CHECK:      %log_softmax = te.compute "log_softmax" [2, 5] (%i0, %i1) : tensor<2x5xf32> attributes {tag = "nn.log_softmax"} {
// CHECK:      te.return %log_softmax : tensor<2x5xf32>

func.func @nn_prelu(%0: tensor<3xf32>, %1: tensor<3xf32>) -> tensor<3xf32> {
  %2 = relay.nn.prelu %0, %1 {axis = 0} : tensor<3xf32>
  func.return %2 : tensor<3xf32>
}
// CHECK:      te.func @fused_nn_prelu(%p0: tensor<3xf32>, %p1: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT: %prelu = te.compute "prelu" [3] (%i0) : tensor<3xf32> attributes {tag = "nn.prelu"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpf ogt, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: %{{[0-9]+}} = te.read %p1[%i0] : tensor<3xf32>
// CHECK-NEXT: %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.select %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT: te.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: te.return %prelu : tensor<3xf32>

func.func @nn_relu(%0: tensor<5xui8>) -> tensor<5xui8> {
  %1 = relay.nn.relu %0 : tensor<5xui8>
  func.return %1 : tensor<5xui8>
}
// CHECK:      te.func @fused_nn_relu(%p0: tensor<5xui8>) -> tensor<5xui8> {
// CHECK-NEXT: %relu = te.compute "relu" [5] (%i0) : tensor<5xui8> attributes {tag = "nn.relu"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0] : tensor<5xui8>
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : i8
// CHECK-NEXT: %{{[0-9]+}} = arith.maxui %{{[0-9]+}}, %{{[0-9]+}} : i8
// CHECK-NEXT: te.yield %{{[0-9]+}} : i8
// CHECK-NEXT: }
// CHECK-NEXT: te.return %relu : tensor<5xui8>

func.func @nn_softmax(%0: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %1 = relay.nn.softmax %0 : tensor<2x5xf32>
  func.return %1 : tensor<2x5xf32>
}
// CHECK:      te.func @fused_nn_softmax(%p0: tensor<2x5xf32>) -> tensor<2x5xf32> {
// CHECK:      %softmax_max = te.compute "softmax_max" [2] max [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.softmax"} {
// CHECK:      %softmax_exp = te.compute "softmax_exp" [2, 5] (%i0, %i1) : tensor<2x5xf32> attributes {tag = "nn.softmax"} {
// CHECK:      %softmax_sum = te.compute "softmax_sum" [2] sum [5] (%i0, %k) : tensor<2xf32> attributes {tag = "nn.softmax"} {
// CHECK:      %softmax = te.compute "softmax" [2, 5] (%i0, %i1) : tensor<2x5xf32> attributes {tag = "nn.softmax"} {
// CHECK:      te.return %softmax : tensor<2x5xf32>
