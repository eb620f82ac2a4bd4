// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_add(%0: tensor<9xi16>, %1: tensor<9xi16>, %2: tensor<f32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<i32>, %6: tensor<f32>, %7: tensor<i32>) -> tensor<9xi16> {
  %8 = relay.qnn.add %0, %1, %2, %3, %4, %5, %6, %7 : (tensor<9xi16>, tensor<9xi16>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xi16>
  func.return %8 : tensor<9xi16>
}
// CHECK:      te.func @fused_qnn_add(%p0: tensor<9xi16>, %p1: tensor<9xi16>, %p2: tensor<f32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<i32>, %p6: tensor<f32>, %p7: tensor<i32>) -> tensor<9xi16> {
// CHECK:      %cast = te.compute "cast" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %subtract = te.compute "subtract" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %multiply = te.compute "multiply" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %add = te.compute "add" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %add_1 = te.compute "add_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_3 = te.compute "cast_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %multiplier_1 = te.compute "multiplier_1" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %shift_1 = te.compute "shift_1" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %left_shift_1 = te.compute "left_shift_1" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %right_shift_2 = te.compute "right_shift_2" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %add_2 = te.compute "add_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %right_shift_3 = te.compute "right_shift_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %add_3 = te.compute "add_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %add_4 = te.compute "add_4" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_6 = te.compute "cast_6" [] () : tensor<i64> attributes {tag = "qnn.add"} {
// CHECK:      %subtract_2 = te.compute "subtract_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %clip = te.compute "clip" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.add"} {
// CHECK:      %cast_7 = te.compute "cast_7" [9] (%i0) : tensor<9xi16> attributes {tag = "qnn.add"} {
// CHECK:      te.return %cast_7 : tensor<9xi16>

func.func @qnn_concatenate(%0: tensor<7xi8>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7xi8> {
  %5 = relay.qnn.concatenate %0, %1, %2, %3, %4 : (tensor<7xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7xi8>
  func.return %5 : tensor<7xi8>
}
// CHECK:      te.func @fused_qnn_concatenate(%p0: tensor<7xi8>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7xi8> {
// CHECK:      %cast = te.compute "cast" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %subtract = te.compute "subtract" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %multiply = te.compute "multiply" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %add = te.compute "add" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %add_1 = te.compute "add_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %clip = te.compute "clip" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.concatenate"} {
// CHECK:      %cast_3 = te.compute "cast_3" [7] (%i0) : tensor<7xi8> attributes {tag = "qnn.concatenate"} {
// CHECK:      %concatenate = te.compute "concatenate" [7] (%i0) : tensor<7xi8> attributes {tag = "qnn.concatenate"} {
// CHECK:      te.return %concatenate : tensor<7xi8>

func.func @qnn_mul(%0: tensor<9xi16>, %1: tensor<9xi16>, %2: tensor<f32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<i32>, %6: tensor<f32>, %7: tensor<i32>) -> tensor<9xi16> {
  %8 = relay.qnn.mul %0, %1, %2, %3, %4, %5, %6, %7 : (tensor<9xi16>, tensor<9xi16>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xi16>
  func.return %8 : tensor<9xi16>
}
// CHECK:      te.func @fused_qnn_mul(%p0: tensor<9xi16>, %p1: tensor<9xi16>, %p2: tensor<f32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<i32>, %p6: tensor<f32>, %p7: tensor<i32>) -> tensor<9xi16> {
// CHECK:      %cast = te.compute "cast" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %subtract = te.compute "subtract" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %cast_2 = te.compute "cast_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %multiply = te.compute "multiply" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %clip = te.compute "clip" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [] () : tensor<f32> attributes {tag = "qnn.mul"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %multiply_2 = te.compute "multiply_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %add = te.compute "add" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<i64> attributes {tag = "qnn.mul"} {
// CHECK:      %add_1 = te.compute "add_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %clip_1 = te.compute "clip_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.mul"} {
// CHECK:      %cast_5 = te.compute "cast_5" [9] (%i0) : tensor<9xi16> attributes {tag = "qnn.mul"} {
// CHECK:      te.return %cast_5 : tensor<9xi16>

func.func @qnn_subtract(%0: tensor<9xi16>, %1: tensor<9xi16>, %2: tensor<f32>, %3: tensor<i32>, %4: tensor<f32>, %5: tensor<i32>, %6: tensor<f32>, %7: tensor<i32>) -> tensor<9xi16> {
  %8 = relay.qnn.subtract %0, %1, %2, %3, %4, %5, %6, %7 : (tensor<9xi16>, tensor<9xi16>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<9xi16>
  func.return %8 : tensor<9xi16>
}
// CHECK:      te.func @fused_qnn_subtract(%p0: tensor<9xi16>, %p1: tensor<9xi16>, %p2: tensor<f32>, %p3: tensor<i32>, %p4: tensor<f32>, %p5: tensor<i32>, %p6: tensor<f32>, %p7: tensor<i32>) -> tensor<9xi16> {
// CHECK:      %cast = te.compute "cast" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %subtract = te.compute "subtract" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %multiply = te.compute "multiply" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %add = te.compute "add" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %add_1 = te.compute "add_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_3 = te.compute "cast_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %multiplier_1 = te.compute "multiplier_1" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %shift_1 = te.compute "shift_1" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %left_shift_1 = te.compute "left_shift_1" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %right_shift_2 = te.compute "right_shift_2" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %add_2 = te.compute "add_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %right_shift_3 = te.compute "right_shift_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %add_3 = te.compute "add_3" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %subtract_2 = te.compute "subtract_2" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_6 = te.compute "cast_6" [] () : tensor<i64> attributes {tag = "qnn.subtract"} {
// CHECK:      %add_4 = te.compute "add_4" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %clip = te.compute "clip" [9] (%i0) : tensor<9xi64> attributes {tag = "qnn.subtract"} {
// CHECK:      %cast_7 = te.compute "cast_7" [9] (%i0) : tensor<9xi16> attributes {tag = "qnn.subtract"} {
// CHECK:      te.return %cast_7 : tensor<9xi16>
