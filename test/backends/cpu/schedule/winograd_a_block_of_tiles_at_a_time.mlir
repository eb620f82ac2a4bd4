// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Rows of tiles stay in the cache from the data's transform to the epilogue; their blocks run in parallel.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x4x56x56x16xf32>, %u: tensor<6x6x2x4x16x32xf32>) -> tensor<1x4x56x56x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<6x6x2x4x16x32xf32>) -> tensor<1x4x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1 {channels = 64, padding = [1, 1], tile_size = 4} : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>) -> tensor<1x4x56x56x16xf32>
      %1 = relay.nn.relu %0 : tensor<1x4x56x56x16xf32>
      relay.return %1 : tensor<1x4x56x56x16xf32>
    }
    %y = relay.call %f(%x, %u) : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>) -> tensor<1x4x56x56x16xf32>
    return %y : tensor<1x4x56x56x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc_nn_relu {
// CHECK-NEXT:   te.compute_inline "conv"
// CHECK-NEXT:   te.compute_inline "pad"
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
// CHECK-NEXT:   %n_at_1, %e_at, %f_at_1, %ko_at_1, %t_at_1, %kv_at_1 = te.compute_at "products.out" at %i2oo [6]
// CHECK-NEXT:   %ko_ato, %ko_ati = te.split %ko_at_1 [-1, 2]
// CHECK-NEXT:   %t_ato, %t_ati = te.split %t_at_1 [-1, 14]
// CHECK-NEXT:   te.reorder %n_at_1, %e_at, %f_at_1, %ko_ato, %t_ato, %t_ati, %ko_ati, %kv_at_1
// CHECK-NEXT:   %n_at_2, %e_at_1, %f_at_2, %ko_at_2, %t_at_2, %kv_at_2, %c_at, %ci_at = te.compute_at "products" at %t_ato [8]
// CHECK-NEXT:   %ci_ato, %ci_ati = te.split %ci_at [-1, 16]
// CHECK-NEXT:   te.reorder %c_at, %ci_ato, %ci_ati, %t_at_2, %ko_at_2, %kv_at_2
// CHECK-NEXT:   %p10 = te.cache_read "p1" in "products" at %ci_ati scope "register" [1]
// CHECK-NEXT:   %p10o, %p10i = te.split %p10 [2, 16]
// CHECK-NEXT:   te.unroll %p10o
// CHECK-NEXT:   te.vectorize %p10i
// CHECK-NEXT:   te.unroll %t_ati
// CHECK-NEXT:   te.unroll %ko_ati
// CHECK-NEXT:   te.unroll %t_at_2
// CHECK-NEXT:   te.unroll %ko_at_2
// CHECK-NEXT:   te.unroll %ci_ati
// CHECK-NEXT:   te.vectorize %kv_at_1
// CHECK-NEXT:   te.vectorize %kv_at_2
// CHECK-NEXT:   %n_at_3, %e_at_2, %f_at_3, %c_at_1, %t_at_3, %ci_at_1 = te.compute_at "tiles" at %i2oo [6]
// CHECK-NEXT:   %t_ato_1, %t_ati_1 = te.split %t_at_3 [2, 14]
// CHECK-NEXT:   te.reorder %n_at_3, %c_at_1, %t_ato_1, %t_ati_1, %e_at_2, %f_at_3, %ci_at_1
// CHECK-NEXT:   %n_at_4, %e_at_3, %s_at, %c_at_2, %t_at_4, %ci_at_2 = te.compute_at "tile_rows" at %t_ati_1 [6]
// CHECK-NEXT:   te.reorder %s_at, %e_at_3
// CHECK-NEXT:   te.set_scope "tile_rows" "register"
// CHECK-NEXT:   te.unroll %e_at_2
// CHECK-NEXT:   te.unroll %f_at_3
// CHECK-NEXT:   te.unroll %e_at_3
// CHECK-NEXT:   te.unroll %s_at
// CHECK-NEXT:   te.vectorize %ci_at_1
// CHECK-NEXT:   te.vectorize %ci_at_2
// CHECK-NEXT:   %i0_i2oo = te.fuse %i0, %i2oo
// CHECK-NEXT:   te.parallel %i0_i2oo
// CHECK-NEXT: }
