// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// More tiles than the first and the last would read padding: it is copied, and the tiles are alike. Rows and pixels of
// padding are pieces of the copy's loops.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x56x24x16xf32>, %w: tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> {
    %f = relay.fn (%p0: tensor<1x2x56x24x16xf32>, %p1: tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 32, strides = [2, 2], padding = [1, 29, 1, 4]} : (tensor<1x2x56x24x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
      %1 = relay.nn.relu %0 : tensor<1x2x28x28x16xf32>
      relay.return %1 : tensor<1x2x28x28x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x2x56x24x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
    return %y : tensor<1x2x28x28x16xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK-NOT:    te.compute_inline
// CHECK:        te.loops "pad"
// CHECK:        te.fuse %i0, %i1
// CHECK:        te.pragma %i2 "loop_partition_hint"
// CHECK-NEXT:   te.pragma %i3 "loop_partition_hint"
// CHECK:        te.reorder %n, %koo, %y, %xo, %c, %r, %s, %ci, %xi, %koi, %kv
// CHECK-NOT:    te.pragma
