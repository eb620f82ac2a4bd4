// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-skip-padding,tir-loop-partition | filecheck %s --check-prefix LOOPS
// No padded copy: tiles at the ends of a row, and rows of the window beside the image, leave their taps out.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x56x56x16xf32>, %w: tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x56x56x16xf32> {
    %f = relay.fn (%p0: tensor<1x2x56x56x16xf32>, %p1: tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_depthwise_conv2d_NCHWc %p0, %p1 {channels = 32, padding = [1, 1], groups = 32} : (tensor<1x2x56x56x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x56x56x16xf32>
      %1 = relay.nn.relu %0 : tensor<1x2x56x56x16xf32>
      relay.return %1 : tensor<1x2x56x56x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x2x56x56x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x56x56x16xf32>
    return %y : tensor<1x2x56x56x16xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK-NEXT:   te.compute_inline "pad"
// CHECK-NEXT:   %n, %ko, %y, %x, %kv, %r, %s = te.loops "conv" [7]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 8]
// CHECK-NEXT:   te.reorder %n, %ko, %y, %xo, %r, %xi, %s, %kv
// CHECK-NEXT:   %i0_out, %i1_out, %i2_out, %i3_out, %i4_out = te.reverse_compute_at "relu" at %xo [5]
// CHECK-NEXT:   te.set_scope "conv" "register"
// CHECK-NEXT:   %n_ko_y = te.fuse %n, %ko, %y
// CHECK-NEXT:   te.parallel %n_ko_y
// CHECK-NEXT:   te.unroll %r
// CHECK-NEXT:   te.unroll %xi
// CHECK-NEXT:   te.unroll %s
// CHECK-NEXT:   te.unroll %i3_out
// CHECK-NEXT:   te.vectorize %kv
// CHECK-NEXT:   te.vectorize %i4_out
// CHECK-NEXT:   te.pragma %xo "loop_partition_hint" = 1

// LOOPS:      tir.for %n_ko_y = 0 to 112 parallel
// LOOPS:        tir.if [%n_ko_y mod 56 + %r - 1 >= 0, {{.*}}] {
// LOOPS-NEXT:     tir.for %xi = 0 to 8 unrolled "conv.x.1.prologue.0" {
// LOOPS-NEXT:       tir.for %s = 0 to 3 unrolled reduction "conv.s.prologue.0" {
// LOOPS-NEXT:         tir.if [%xi + %xo * 8 + %s - 1 >= 0] {
// LOOPS:        tir.for %xo = 0 to 5 "conv.x.0.main" {
// LOOPS:          tir.if [%n_ko_y mod 56 + %r - 1 >= 0, {{.*}}] {
// LOOPS-NEXT:       tir.for %xi = 0 to 8 unrolled "conv.x.1.main" {
// LOOPS-NEXT:         tir.for %s = 0 to 3 unrolled reduction "conv.s.main" {
// LOOPS-NEXT:           tir.for %kv = 0 to 16 vectorized
