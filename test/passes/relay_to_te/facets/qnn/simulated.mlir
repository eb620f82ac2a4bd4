// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_simulated_dequantize(%0: tensor<9xf32>, %1: tensor<i32>, %2: tensor<f32>, %3: tensor<i32>) -> tensor<9xf32> {
  %4 = relay.qnn.simulated_dequantize %0, %1, %2, %3 : (tensor<9xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xf32>
  func.return %4 : tensor<9xf32>
}
// CHECK:      te.func @fused_qnn_simulated_dequantize(%p0: tensor<9xf32>, %p1: tensor<i32>, %p2: tensor<f32>, %p3: tensor<i32>) -> tensor<9xf32> {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %greater_equal = te.compute "greater_equal" [] () : tensor<i1> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %less_equal = te.compute "less_equal" [] () : tensor<i1> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %logical_and = te.compute "logical_and" [] () : tensor<i1> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %cast = te.compute "cast" [] () : tensor<f32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %subtract = te.compute "subtract" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %multiply = te.compute "multiply" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      %where = te.compute "where" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_dequantize"} {
// CHECK:      te.return %where : tensor<9xf32>

func.func @qnn_simulated_quantize(%0: tensor<9xf32>, %1: tensor<i32>, %2: tensor<f32>, %3: tensor<i32>) -> tensor<9xf32> {
  %4 = relay.qnn.simulated_quantize %0, %1, %2, %3 : (tensor<9xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xf32>
  func.return %4 : tensor<9xf32>
}
// CHECK:      te.func @fused_qnn_simulated_quantize(%p0: tensor<9xf32>, %p1: tensor<i32>, %p2: tensor<f32>, %p3: tensor<i32>) -> tensor<9xf32> {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %equal = te.compute "equal" [] () : tensor<i1> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %divide = te.compute "divide" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %less = te.compute "less" [9] (%i0) : tensor<9xi1> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<f32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %where = te.compute "where" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %add = te.compute "add" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %trunc = te.compute "trunc" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %cast = te.compute "cast" [] () : tensor<f32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %add_1 = te.compute "add_1" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %clip = te.compute "clip" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %constant_4 = te.compute "constant_4" [] () : tensor<i32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %equal_1 = te.compute "equal_1" [] () : tensor<i1> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %clip_1 = te.compute "clip_1" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %constant_5 = te.compute "constant_5" [] () : tensor<i32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %equal_2 = te.compute "equal_2" [] () : tensor<i1> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %clip_2 = te.compute "clip_2" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %where_1 = te.compute "where_1" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %where_2 = te.compute "where_2" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      %where_3 = te.compute "where_3" [9] (%i0) : tensor<9xf32> attributes {tag = "qnn.simulated_quantize"} {
// CHECK:      te.return %where_3 : tensor<9xf32>

func.func @relay_op_annotation_simulated_quantize(%0: tensor<5xf32>, %1: tensor<f32>, %2: tensor<f32>, %3: tensor<f32>) -> tensor<5xf32> {
  %4 = relay.relay.op.annotation.simulated_quantize %0, %1, %2, %3 {kind = 1, rounding = "floor", sign = false} : (tensor<5xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  func.return %4 : tensor<5xf32>
}
// CHECK:      te.func @fused_relay_op_annotation_simulated_quantize(%p0: tensor<5xf32>, %p1: tensor<f32>, %p2: tensor<f32>, %p3: tensor<f32>) -> tensor<5xf32> {
// CHECK:      %divide = te.compute "divide" [5] (%i0) : tensor<5xf32> attributes {tag = "relay.op.annotation.simulated_quantize"} {
// CHECK:      %minimum = te.compute "minimum" [5] (%i0) : tensor<5xf32> attributes {tag = "relay.op.annotation.simulated_quantize"} {
// CHECK:      %maximum = te.compute "maximum" [5] (%i0) : tensor<5xf32> attributes {tag = "relay.op.annotation.simulated_quantize"} {
// CHECK:      %floor = te.compute "floor" [5] (%i0) : tensor<5xf32> attributes {tag = "relay.op.annotation.simulated_quantize"} {
// CHECK:      %multiply = te.compute "multiply" [5] (%i0) : tensor<5xf32> attributes {tag = "relay.op.annotation.simulated_quantize"} {
// CHECK:      te.return %multiply : tensor<5xf32>
