// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @qnn_avg_pool2d(%0: tensor<2x5x4x3xui8>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<2x6x3x3xui8> {
  %5 = relay.qnn.avg_pool2d %0, %1, %2, %3, %4 {count_include_pad = true, layout = "NHWC", padding = [1, 0], pool_size = [2, 2]} : (tensor<2x5x4x3xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x6x3x3xui8>
  func.return %5 : tensor<2x6x3x3xui8>
}
// CHECK:      te.func @fused_qnn_avg_pool2d(%p0: tensor<2x5x4x3xui8>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<2x6x3x3xui8> {
// CHECK:      %cast = te.compute "cast" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %subtract = te.compute "subtract" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %multiply = te.compute "multiply" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %add = te.compute "add" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %add_1 = te.compute "add_1" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %clip = te.compute "clip" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi64> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %cast_3 = te.compute "cast_3" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [2, 5, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x5x4x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %pad = te.compute "pad" [2, 7, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x7x4x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %add_2 = te.compute "add_2" [2, 7, 4, 3] (%i0, %i1, %i2, %i3) : tensor<2x7x4x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %window_sum = te.compute "window_sum" [2, 6, 3, 3] sum [2, 2] (%i0, %i1, %i2, %i3, %r, %s) : tensor<2x6x3x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %avg_pool2d = te.compute "avg_pool2d" [2, 6, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x6x3x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %clip_1 = te.compute "clip_1" [2, 6, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x6x3x3xi32> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      %cast_4 = te.compute "cast_4" [2, 6, 3, 3] (%i0, %i1, %i2, %i3) : tensor<2x6x3x3xui8> attributes {tag = "qnn.avg_pool2d"} {
// CHECK:      te.return %cast_4 : tensor<2x6x3x3xui8>

func.func @qnn_leaky_relu(%0: tensor<7xui8>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7xui8> {
  %5 = relay.qnn.leaky_relu %0, %1, %2, %3, %4 {alpha = 0.1} : (tensor<7xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7xui8>
  func.return %5 : tensor<7xui8>
}
// CHECK:      te.func @fused_qnn_leaky_relu(%p0: tensor<7xui8>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7xui8> {
// CHECK:      %cast = te.compute "cast" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %subtract = te.compute "subtract" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %multiply = te.compute "multiply" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %left_shift = te.compute "left_shift" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %right_shift = te.compute "right_shift" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %add = te.compute "add" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %cast_2 = te.compute "cast_2" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %add_1 = te.compute "add_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %clip = te.compute "clip" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %cast_3 = te.compute "cast_3" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %less = te.compute "less" [7] (%i0) : tensor<7xi1> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %add_2 = te.compute "add_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_4 = te.compute "constant_4" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %right_shift_2 = te.compute "right_shift_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_5 = te.compute "constant_5" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %multiply_2 = te.compute "multiply_2" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_6 = te.compute "constant_6" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %add_3 = te.compute "add_3" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %constant_7 = te.compute "constant_7" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %right_shift_3 = te.compute "right_shift_3" [] () : tensor<i64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %add_4 = te.compute "add_4" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %where = te.compute "where" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %clip_1 = te.compute "clip_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      %cast_4 = te.compute "cast_4" [7] (%i0) : tensor<7xui8> attributes {tag = "qnn.leaky_relu"} {
// CHECK:      te.return %cast_4 : tensor<7xui8>

func.func @qnn_softmax(%0: tensor<7xui8>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>) -> tensor<7xui8> {
  %5 = relay.qnn.softmax %0, %1, %2, %3, %4 : (tensor<7xui8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<7xui8>
  func.return %5 : tensor<7xui8>
}
// CHECK:      te.func @fused_qnn_softmax(%p0: tensor<7xui8>, %p1: tensor<f32>, %p2: tensor<i32>, %p3: tensor<f32>, %p4: tensor<i32>) -> tensor<7xui8> {
// CHECK:      %constant = te.compute "constant" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast = te.compute "cast" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %max = te.compute "max" [1] max [7] (%i0, %k0) : tensor<1xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %subtract = te.compute "subtract" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_1 = te.compute "constant_1" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift = te.compute "right_shift" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %add = te.compute "add" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_2 = te.compute "constant_2" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift_1 = te.compute "right_shift_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %subtract_1 = te.compute "subtract_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_3 = te.compute "constant_3" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %divide = te.compute "divide" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_4 = te.compute "constant_4" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %less = te.compute "less" [] () : tensor<i1> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_5 = te.compute "constant_5" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_6 = te.compute "constant_6" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %where = te.compute "where" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %add_1 = te.compute "add_1" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %trunc = te.compute "trunc" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast_1 = te.compute "cast_1" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_7 = te.compute "constant_7" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %maximum = te.compute "maximum" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %negative = te.compute "negative" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %floor_divide = te.compute "floor_divide" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %clip = te.compute "clip" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %multiply = te.compute "multiply" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %subtract_2 = te.compute "subtract_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_8 = te.compute "constant_8" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift_2 = te.compute "right_shift_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %add_2 = te.compute "add_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %max_1 = te.compute "max_1" [1] max [7] (%i0, %k0) : tensor<1xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %subtract_3 = te.compute "subtract_3" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %left_shift = te.compute "left_shift" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %sum = te.compute "sum" [1] sum [7] (%i0, %k0) : tensor<1xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %floor_divide_1 = te.compute "floor_divide_1" [1] (%i0) : tensor<1xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %multiply_1 = te.compute "multiply_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_9 = te.compute "constant_9" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift_3 = te.compute "right_shift_3" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast_2 = te.compute "cast_2" [7] (%i0) : tensor<7xi32> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast_3 = te.compute "cast_3" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_10 = te.compute "constant_10" [] () : tensor<f32> attributes {tag = "qnn.softmax"} {
// CHECK:      %multiplier = te.compute "multiplier" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %shift = te.compute "shift" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %multiply_2 = te.compute "multiply_2" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_11 = te.compute "constant_11" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %left_shift_1 = te.compute "left_shift_1" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %constant_12 = te.compute "constant_12" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift_4 = te.compute "right_shift_4" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %add_3 = te.compute "add_3" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %right_shift_5 = te.compute "right_shift_5" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast_4 = te.compute "cast_4" [] () : tensor<i64> attributes {tag = "qnn.softmax"} {
// CHECK:      %add_4 = te.compute "add_4" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %clip_1 = te.compute "clip_1" [7] (%i0) : tensor<7xi64> attributes {tag = "qnn.softmax"} {
// CHECK:      %cast_5 = te.compute "cast_5" [7] (%i0) : tensor<7xui8> attributes {tag = "qnn.softmax"} {
// CHECK:      te.return %cast_5 : tensor<7xui8>
