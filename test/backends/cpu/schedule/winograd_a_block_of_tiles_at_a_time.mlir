// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Rows of tiles stay in the cache from the data's transform to the epilogue; their blocks run in parallel.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x4x56x56x16xf32>, %u: tensor<6x6x2x4x16x32xf32>, %k: tensor<2x4x3x3x16x32xf32>, %l: tensor<f32>) -> tensor<1x4x56x56x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<6x6x2x4x16x32xf32>, %p2: tensor<2x4x3x3x16x32xf32>, %p3: tensor<f32>) -> tensor<1x4x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 64, padding = [1, 1], tile_size = 4} : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>, tensor<2x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x4x56x56x16xf32>
      %1 = relay.nn.relu %0 : tensor<1x4x56x56x16xf32>
      relay.return %1 : tensor<1x4x56x56x16xf32>
    }
    %y = relay.call %f(%x, %u, %k, %l) : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>, tensor<2x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x4x56x56x16xf32>
    return %y : tensor<1x4x56x56x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc_nn_relu {
// CHECK-NEXT:   te.compute_inline "pad_1"
// CHECK-NEXT:   te.compute_inline "pad"
// CHECK-NEXT:   te.compute_inline "conv"
// CHECK-NEXT:   te.cache_write "products" scope "register"
// CHECK-NEXT:   %i0, %i1, %i2, %i3, %i4 = te.loops "relu" [5]
// CHECK-NEXT:   %i2o, %i2i = te.split %i2 [-1, 4]
// CHECK-NEXT:   %i3o, %i3i = te.split %i3 [-1, 4]
// CHECK-NEXT:   %i2oo, %i2oi = te.split %i2o [-1, 2]
// CHECK-NEXT:   te.reorder %i0, %i2oo, %i1, %i2oi, %i3o, %i2i, %i3i, %i4
// CHECK-NEXT:   %n_at, %i_at, %f_at, %ko_at, %t_at, %kv_at = te.compute_at "result_rows" at %i3o [6]
// CHECK-NEXT:   te.reorder %f_at, %i_at
// CHECK-NEXT:   te.set_scope "result_rows" "register"
// CHECK-NEXT:   te.unroll %i2i
// CHECK-NEXT:   te.unroll %i3i
// CHECK-NEXT:   te.unroll %i_at
// CHECK-NEXT:   te.unroll %f_at
// CHECK-NEXT:   te.vectorize %i4
// CHECK-NEXT:   te.vectorize %kv_at
// CHECK-NEXT:   te.pragma %i2i "unswitch" = 1 : i64
// CHECK-NEXT:   te.cache_write "direct" scope "register"
// CHECK-NEXT:   %n_at_1, %i_at_1, %j_at, %ko_at_1, %t_at_1, %kv_at_1 = te.compute_at "direct.out" at %i3o [6]
// CHECK-NEXT:   %i_ato, %i_ati = te.split %i_at_1 [-1, 4]
// CHECK-NEXT:   te.unroll %i_ati
// CHECK-NEXT:   te.unroll %j_at
// CHECK-NEXT:   te.vectorize %kv_at_1
// CHECK-NEXT:   %n_at_2, %i_at_2, %j_at_1, %ko_at_2, %t_at_2, %kv_at_2, %c_at, %r_at, %s_at, %ci_at = te.compute_at "direct" at %i_ato [10]
// CHECK-NEXT:   te.reorder %c_at, %r_at, %s_at, %ci_at, %i_at_2, %j_at_1, %kv_at_2
// CHECK-NEXT:   te.unroll %i_at_2
// CHECK-NEXT:   te.unroll %j_at_1
// CHECK-NEXT:   te.vectorize %kv_at_2
// CHECK-NEXT:   %n_at_3, %t_at_3, %c_at_1, %e_at, %f_at_1, %ci_at_1 = te.compute_at "own_tiles" at %i3o [6]
// CHECK-NEXT:   te.vectorize %ci_at_1
// CHECK-NEXT:   %n_at_4, %e_at_1, %f_at_2, %ko_at_3, %t_at_4, %kv_at_3 = te.compute_at "products.out" at %i2oo [6]
// CHECK-NEXT:   %ko_ato, %ko_ati = te.split %ko_at_3 [-1, 2]
// CHECK-NEXT:   %t_ato, %t_ati = te.split %t_at_4 [-1, 14]
// CHECK-NEXT:   te.reorder %n_at_4, %e_at_1, %f_at_2, %ko_ato, %t_ato, %t_ati, %ko_ati, %kv_at_3
// CHECK-NEXT:   %n_at_5, %e_at_2, %f_at_3, %ko_at_4, %t_at_5, %kv_at_4, %c_at_2, %ci_at_2 = te.compute_at "products" at %t_ato [8]
// CHECK-NEXT:   %ci_ato, %ci_ati = te.split %ci_at_2 [-1, 16]
// CHECK-NEXT:   te.reorder %c_at_2, %ci_ato, %ci_ati, %t_at_5, %ko_at_4, %kv_at_4
// CHECK-NEXT:   %p10 = te.cache_read "p1" in "products" at %ci_ati scope "register" [1]
// CHECK-NEXT:   %p10o, %p10i = te.split %p10 [-1, 16]
// CHECK-NEXT:   te.unroll %p10o
// CHECK-NEXT:   te.vectorize %p10i
// CHECK-NEXT:   te.unroll %t_ati
// CHECK-NEXT:   te.unroll %ko_ati
// CHECK-NEXT:   te.unroll %t_at_5
// CHECK-NEXT:   te.unroll %ko_at_4
// CHECK-NEXT:   te.unroll %ci_ati
// CHECK-NEXT:   te.vectorize %kv_at_3
// CHECK-NEXT:   te.vectorize %kv_at_4
// CHECK-NEXT:   %n_at_6, %t_at_6 = te.compute_at "far" at %i2oo [2]
// CHECK-NEXT:   %n_at_7, %t_at_7 = te.compute_at "least" at %i2oo [2]
// CHECK-NEXT:   %n_at_8, %ty_at, %x_at = te.compute_at "least_rows" at %i2oo [3]
// CHECK-NEXT:   %x_ato, %x_ati = te.split %x_at [-1, 16]
// CHECK-NEXT:   te.pragma %x_ati "masked_lanes" = 1 : i64
// CHECK-NEXT:   te.vectorize %x_ati
// CHECK-NEXT:   te.cache_write "sums" scope "register"
// CHECK-NEXT:   %n_at_9, %y_at, %x_at_1 = te.compute_at "sums.out" at %i2oo [3]
// CHECK-NEXT:   %x_ato_1, %x_ati_1 = te.split %x_at_1 [-1, 16]
// CHECK-NEXT:   te.pragma %x_ati_1 "masked_lanes" = 1 : i64
// CHECK-NEXT:   te.vectorize %x_ati_1
// CHECK-NEXT:   %n_at_10, %y_at_1, %x_at_2, %ci_at_3 = te.compute_at "sums" at %x_ato_1 [4]
// CHECK-NEXT:   te.reorder %ci_at_3, %x_at_2
// CHECK-NEXT:   te.unroll %ci_at_3
// CHECK-NEXT:   te.vectorize %x_at_2
// CHECK-NEXT:   te.partition %x_ato
// CHECK-NEXT:   %n_at_11, %y_at_2, %ci_at_4, %x_at_3 = te.compute_at "turned" at %i2oo [4]
// CHECK-NEXT:   %x_ato_2, %x_ati_2 = te.split %x_at_3 [-1, 16]
// CHECK-NEXT:   te.reorder %x_ato_2, %ci_at_4, %x_ati_2
// CHECK-NEXT:   te.vectorize %x_ati_2
// CHECK-NEXT:   te.cache_write "squares" scope "register"
// CHECK-NEXT:   %n, %t, %ci = te.loops "squares" [3]
// CHECK-NEXT:   %cio, %cia, %cib = te.split %ci [-1, 4, 4]
// CHECK-NEXT:   %squares_rf0, %squares_rf1, %squares_rf2, %squares_rf3, %squares_rf4 = te.rfactor "squares" at %cib axis 2 [5]
// CHECK-NEXT:   %squares_rf_rf0, %squares_rf_rf1, %squares_rf_rf2, %squares_rf_rf3, %squares_rf_rf4 = te.rfactor "squares.rf" at %squares_rf3 axis 2 [5]
// CHECK-NEXT:   %n_at_12, %t_at_8 = te.compute_at "squares.out" at %i2oo [2]
// CHECK-NEXT:   %n_at_13, %t_at_9, %cib_at = te.compute_at "squares" at %t_at_8 [3]
// CHECK-NEXT:   te.set_scope "squares" "register"
// CHECK-NEXT:   te.unroll %cib_at
// CHECK-NEXT:   %squares_rf0_at, %squares_rf1_at, %squares_rf2_at, %squares_rf3_at = te.compute_at "squares.rf" at %t_at_8 [4]
// CHECK-NEXT:   te.set_scope "squares.rf" "register"
// CHECK-NEXT:   te.reorder %squares_rf3_at, %squares_rf2_at
// CHECK-NEXT:   te.vectorize %squares_rf2_at
// CHECK-NEXT:   te.unroll %squares_rf3_at
// CHECK-NEXT:   %squares_rf_rf0_at, %squares_rf_rf1_at, %squares_rf_rf2_at, %squares_rf_rf3_at, %squares_rf_rf4_at = te.compute_at "squares.rf.rf" at %t_at_8 [5]
// CHECK-NEXT:   te.set_scope "squares.rf.rf" "register"
// CHECK-NEXT:   te.reorder %squares_rf_rf4_at, %squares_rf_rf2_at, %squares_rf_rf3_at
// CHECK-NEXT:   %squares_rf_rf2_at_squares_rf_rf3_at = te.fuse %squares_rf_rf2_at, %squares_rf_rf3_at
// CHECK-NEXT:   te.vectorize %squares_rf_rf2_at_squares_rf_rf3_at
// CHECK-NEXT:   %n_at_14, %ty_at_1, %x_at_4, %ci_at_5 = te.compute_at "square_columns" at %i2oo [4]
// CHECK-NEXT:   te.vectorize %ci_at_5
// CHECK-NEXT:   te.cache_write "magnitudes" scope "register"
// CHECK-NEXT:   %n_at_15, %g_at, %y_at_3, %x_at_5, %ci_at_6 = te.compute_at "magnitudes.out" at %i2oo [5]
// CHECK-NEXT:   te.vectorize %ci_at_6
// CHECK-NEXT:   %n_at_16, %g_at_1, %y_at_4, %x_at_6, %ci_at_7, %c_at_3 = te.compute_at "magnitudes" at %x_at_5 [6]
// CHECK-NEXT:   te.reorder %c_at_3, %ci_at_7
// CHECK-NEXT:   te.unroll %c_at_3
// CHECK-NEXT:   te.vectorize %ci_at_7
// CHECK-NEXT:   %n_at_17, %e_at_3, %f_at_4, %c_at_4, %t_at_10, %ci_at_8 = te.compute_at "tiles" at %i2oo [6]
// CHECK-NEXT:   %t_ato_1, %t_ati_1 = te.split %t_at_10 [-1, 14]
// CHECK-NEXT:   te.reorder %n_at_17, %c_at_4, %t_ato_1, %t_ati_1, %e_at_3, %f_at_4, %ci_at_8
// CHECK-NEXT:   %n_at_18, %e_at_4, %s_at_1, %c_at_5, %t_at_11, %ci_at_9 = te.compute_at "tile_rows" at %t_ati_1 [6]
// CHECK-NEXT:   te.reorder %s_at_1, %e_at_4
// CHECK-NEXT:   te.set_scope "tile_rows" "register"
// CHECK-NEXT:   te.unroll %e_at_3
// CHECK-NEXT:   te.unroll %f_at_4
// CHECK-NEXT:   te.unroll %e_at_4
// CHECK-NEXT:   te.unroll %s_at_1
// CHECK-NEXT:   te.vectorize %ci_at_8
// CHECK-NEXT:   te.vectorize %ci_at_9
// CHECK-NEXT:   %i0_i2oo = te.fuse %i0, %i2oo
// CHECK-NEXT:   te.parallel %i0_i2oo
// CHECK-NEXT: }
