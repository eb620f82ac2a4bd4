// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_abs(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.abs %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_abs(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.abs"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %abs = te.compute "abs" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.abs"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.abs"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.abs"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.abs"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.abs"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_erf(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.erf %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_erf(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.erf"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %erf = te.compute "erf" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.erf"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.erf"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.erf"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.erf"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.erf"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_exp(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.exp %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_exp(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.exp"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %exp = te.compute "exp" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.exp"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.exp"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.exp"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.exp"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.exp"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_hardswish(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.hardswish %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_hardswish(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %divide_1 = te.compute "divide_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.hardswish"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.hardswish"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %constant_4 = te.compute "constant_4" [] () : tensor<f64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %add_2 = te.compute "add_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %clip_1 = te.compute "clip_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.hardswish"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.hardswish"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_log(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.log %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_log(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.log"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %log = te.compute "log" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.log"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.log"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.log"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.log"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.log"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_rsqrt(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.rsqrt %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_rsqrt(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %sqrt = te.compute "sqrt" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %divide_1 = te.compute "divide_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<f64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.rsqrt"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.rsqrt"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_sigmoid(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.sigmoid %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_sigmoid(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %sigmoid = te.compute "sigmoid" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sigmoid"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.sigmoid"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_sqrt(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.sqrt %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_sqrt(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %sqrt = te.compute "sqrt" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.sqrt"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.sqrt"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.sqrt"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.sqrt"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>

func.func @qnn_tanh(%0: tensor<7x3xi32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7x3xi32> {
  %5 = relay.qnn.tanh %0, %1, %2, %3, %4 : (tensor<7x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7x3xi32>
  func.return %5 : tensor<7x3xi32>
}
// CHECK:      te.func @fused_qnn_tanh(%p0: tensor<7x3xi32>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7x3xi32> {
// CHECK:      %cast = te.compute "cast" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.tanh"} {
// CHECK:      %subtract = te.compute "subtract" [7, 3] (%i0, %i1) : tensor<7x3xi64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %multiply = te.compute "multiply" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %tanh = te.compute "tanh" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %divide = te.compute "divide" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_5 = te.compute "cast_5" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %add = te.compute "add" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %isnan = te.compute "isnan" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.tanh"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %less = te.compute "less" [7, 3] (%i0, %i1) : tensor<7x3xi1> attributes {tag = "qnn.tanh"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<f64> attributes {tag = "qnn.tanh"} {
// CHECK:      %where = te.compute "where" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %add_1 = te.compute "add_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %trunc = te.compute "trunc" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %where_1 = te.compute "where_1" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %clip = te.compute "clip" [7, 3] (%i0, %i1) : tensor<7x3xf64> attributes {tag = "qnn.tanh"} {
// CHECK:      %cast_6 = te.compute "cast_6" [7, 3] (%i0, %i1) : tensor<7x3xi32> attributes {tag = "qnn.tanh"} {
// CHECK:      te.return %cast_6 : tensor<7x3xi32>
