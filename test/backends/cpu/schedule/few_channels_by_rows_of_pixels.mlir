// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-skip-padding | filecheck %s --check-prefix ROWS
// Three channels by every other pixel of a row, the parts of it that have ends by themselves; no padded copy.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x20x40x600xf32>, %w: tensor<3x20x3x3xf32>) -> tensor<1x3x20x300xf32> {
    %f = relay.fn (%p0: tensor<1x20x40x600xf32>, %p1: tensor<3x20x3x3xf32>) -> tensor<1x3x20x300xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 {padding = [1, 1], strides = [2, 2]} : (tensor<1x20x40x600xf32>, tensor<3x20x3x3xf32>) -> tensor<1x3x20x300xf32>
      relay.return %0 : tensor<1x3x20x300xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x20x40x600xf32>, tensor<3x20x3x3xf32>) -> tensor<1x3x20x300xf32>
    return %y : tensor<1x3x20x300xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK-NEXT:   te.compute_inline "pad"
// CHECK:        te.reorder %n, %ko, %y, %xo, %ka, %c, %r, %s, %kb, %xa, %xb
// CHECK:        te.vectorize %xb
// CHECK-NEXT:   te.pragma %xb "masked_lanes" = 1
// CHECK:        te.pragma %xo "loop_partition_hint" = 1

// ROWS:       tir.for %r = 0 to 3 unrolled
// ROWS-NEXT:    tir.if [%n_k0_y * 2 + %r - 1 >= 0
// ROWS-NEXT:      tir.for %s = 0 to 3 unrolled
