// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_dequantize(%0: tensor<3x4xi8>, %1: tensor<3xf32>, %2: tensor<3xi32>) -> tensor<3x4xf32> {
  %3 = relay.qnn.dequantize %0, %1, %2 {axis = -2} : (tensor<3x4xi8>, tensor<3xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  func.return %3 : tensor<3x4xf32>
}
// CHECK:      te.func @fused_qnn_dequantize(%p0: tensor<3x4xi8>, %p1: tensor<3xf32>, %p2: tensor<3xi32>) -> tensor<3x4xf32> {
// CHECK:      %cast = te.compute "cast" [3, 4] (%i0, %i1) : tensor<3x4xi32> attributes {tag = "qnn.dequantize"} {
// CHECK:      %expand_dims = te.compute "expand_dims" [3, 1] (%i0, %i1) : tensor<3x1xi32> attributes {tag = "qnn.dequantize"} {
// CHECK:      %subtract = te.compute "subtract" [3, 4] (%i0, %i1) : tensor<3x4xi32> attributes {tag = "qnn.dequantize"} {
// CHECK:      %cast_1 = te.compute "cast_1" [3, 4] (%i0, %i1) : tensor<3x4xf32> attributes {tag = "qnn.dequantize"} {
// CHECK:      %expand_dims_1 = te.compute "expand_dims_1" [3, 1] (%i0, %i1) : tensor<3x1xf32> attributes {tag = "qnn.dequantize"} {
// CHECK:      %multiply = te.compute "multiply" [3, 4] (%i0, %i1) : tensor<3x4xf32> attributes {tag = "qnn.dequantize"} {
// CHECK:      te.return %multiply : tensor<3x4xf32>

func.func @qnn_quantize(%0: tensor<5xf32>, %1: tensor<1xf32>, %2: tensor<1xi32>) -> tensor<5xi32> {
  %3 = relay.qnn.quantize %0, %1, %2 {out_dtype = "int32"} : (tensor<5xf32>, tensor<1xf32>, tensor<1xi32>) -> tensor<5xi32>
  func.return %3 : tensor<5xi32>
}
// CHECK:      te.func @fused_qnn_quantize(%p0: tensor<5xf32>, %p1: tensor<1xf32>, %p2: tensor<1xi32>) -> tensor<5xi32> {
// CHECK:      %reshape = te.compute "reshape" [] () : tensor<f32> attributes {tag = "qnn.quantize"} {
// CHECK:      %divide = te.compute "divide" [5] (%i0) : tensor<5xf32> attributes {tag = "qnn.quantize"} {
// CHECK:      %reshape_1 = te.compute "reshape_1" [] () : tensor<i32> attributes {tag = "qnn.quantize"} {
// CHECK:      %cast = te.compute "cast" [] () : tensor<f32> attributes {tag = "qnn.quantize"} {
// CHECK:      %add = te.compute "add" [5] (%i0) : tensor<5xf32> attributes {tag = "qnn.quantize"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f32> attributes {tag = "qnn.quantize"} {
// CHECK:      %less = te.compute "less" [5] (%i0) : tensor<5xi1> attributes {tag = "qnn.quantize"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f32> attributes {tag = "qnn.quantize"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f32> attributes {tag = "qnn.quantize"} {
// CHECK:      %where = te.compute "where" [5] (%i0) : tensor<5xf32> attributes {tag = "qnn.quantize"} {
// CHECK:      %add_1 = te.compute "add_1" [5] (%i0) : tensor<5xf32> attributes {tag = "qnn.quantize"} {
// CHECK:      %trunc = te.compute "trunc" [5] (%i0) : tensor<5xf32> attributes {tag = "qnn.quantize"} {
// CHECK:      %cast_1 = te.compute "cast_1" [5] (%i0) : tensor<5xf64> attributes {tag = "qnn.quantize"} {
// CHECK:      %clip = te.compute "clip" [5] (%i0) : tensor<5xf64> attributes {tag = "qnn.quantize"} {
// CHECK:      %cast_2 = te.compute "cast_2" [5] (%i0) : tensor<5xi32> attributes {tag = "qnn.quantize"} {
// CHECK:      te.return %cast_2 : tensor<5xi32>

func.func @qnn_requantize(%0: tensor<9xi16>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<9xi16> {
  %5 = relay.qnn.requantize %0, %1, %2, %3, %4 {out_dtype = "int16"} : (tensor<9xi16>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xi16>
  func.return %5 : tensor<9xi16>
}
// CHECK:      te.func @fused_qnn_requantize(%p0: tensor<9xi16>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<9xi16> {
// CHECK:      %cast = te.compute "cast" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %subtract = te.compute "subtract" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %multiply = te.compute "multiply" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %add = te.compute "add" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.requantize"} {
// CHECK:      %add_1 = te.compute "add_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %clip = te.compute "clip" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.requantize"} {
// CHECK:      %cast_3 = te.compute "cast_3" [9] (%i0) : tensor<9xi16> attributes {tag = "qnn.requantize"} {
// CHECK:      te.return %cast_3 : tensor<9xi16>
