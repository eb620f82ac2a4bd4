// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-skip-padding,tir-loop-partition | filecheck %s --check-prefix LOOPS
// No padded copy: rows of the window beside the image are left out, and the first tile's first column meets a pixel less.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x56x56x16xf32>, %w: tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> {
    %f = relay.fn (%p0: tensor<1x2x56x56x16xf32>, %p1: tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 32, strides = [2, 2], padding = [1, 1]} : (tensor<1x2x56x56x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
      %1 = relay.nn.relu %0 : tensor<1x2x28x28x16xf32>
      relay.return %1 : tensor<1x2x28x28x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x2x56x56x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
    return %y : tensor<1x2x28x28x16xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK-NEXT:   te.compute_inline "pad"
// CHECK-NEXT:   %n, %ko, %y, %x, %kv, %c, %r, %s, %ci = te.loops "conv" [9]
// CHECK-NEXT:   %koo, %koi = te.split %ko [-1, 2]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 14]
// CHECK-NEXT:   te.reorder %n, %koo, %y, %xo, %r, %s, %c, %ci, %xi, %koi, %kv
// CHECK-NOT:    te.prefetch
// CHECK:        te.pragma %xo "loop_partition_hint" = 1
// CHECK-NEXT:   te.pragma %s "loop_partition_hint" = 3

// LOOPS:      tir.for %n_koo_y = 0 to 28 parallel
// LOOPS:        tir.if [%n_koo_y * 2 + %r - 1 >= 0] {
// LOOPS-NEXT:     tir.for %s = 0 to 1 reduction "conv.s.main.prologue.0" {
// LOOPS-NEXT:       tir.for %c = 0 to 2
// LOOPS:              tir.for %xi = 0 to 14 unrolled "conv.x.1.main.prologue.0" {
// LOOPS-NEXT:           tir.if [%xi * 2 + %xo * 28 + %s - 1 >= 0] {
// LOOPS:          tir.for %s = 0 to 2 reduction "conv.s.main.main" {
// LOOPS-NOT:        tir.if
// LOOPS:        tir.for %xo = 0 to 1 "conv.x.0.epilogue.0" {
// LOOPS:          tir.if [%n_koo_y * 2 + %r - 1 >= 0] {
// LOOPS-NEXT:       tir.for %s = 0 to 3 reduction "conv.s.epilogue.0" {
// LOOPS-NOT:          tir.if
