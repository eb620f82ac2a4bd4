// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Seven rows meet the same weights: those of the next 64 output channels are fetched, some lines in each body, and the
// threads share out channels alone. Not where there are more tiles than lines, nor where channels are too few to share.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  func.func @main(%x0: tensor<1x32x7x7x16xf32>, %w0: tensor<16x32x3x3x16x32xf32>, %x1: tensor<1x4x56x56x16xf32>, %w1: tensor<8x4x3x3x16x32xf32>, %x2: tensor<1x32x7x7x16xf32>, %w2: tensor<6x32x3x3x16x32xf32>) -> (tensor<1x32x7x7x16xf32>, tensor<1x16x56x56x16xf32>, tensor<1x12x7x7x16xf32>) {
    %f0 = relay.fn (%p0: tensor<1x32x7x7x16xf32>, %p1: tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x7x7x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 512, padding = [1, 1]} : (tensor<1x32x7x7x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x7x7x16xf32>
      relay.return %0 : tensor<1x32x7x7x16xf32>
    }
    %y0 = relay.call %f0(%x0, %w0) : (tensor<1x32x7x7x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x7x7x16xf32>
    %f1 = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<8x4x3x3x16x32xf32>) -> tensor<1x16x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 256, padding = [1, 1]} : (tensor<1x4x56x56x16xf32>, tensor<8x4x3x3x16x32xf32>) -> tensor<1x16x56x56x16xf32>
      relay.return %0 : tensor<1x16x56x56x16xf32>
    }
    %y1 = relay.call %f1(%x1, %w1) : (tensor<1x4x56x56x16xf32>, tensor<8x4x3x3x16x32xf32>) -> tensor<1x16x56x56x16xf32>
    %f2 = relay.fn (%p0: tensor<1x32x7x7x16xf32>, %p1: tensor<6x32x3x3x16x32xf32>) -> tensor<1x12x7x7x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 192, padding = [1, 1]} : (tensor<1x32x7x7x16xf32>, tensor<6x32x3x3x16x32xf32>) -> tensor<1x12x7x7x16xf32>
      relay.return %0 : tensor<1x12x7x7x16xf32>
    }
    %y2 = relay.call %f2(%x2, %w2) : (tensor<1x32x7x7x16xf32>, tensor<6x32x3x3x16x32xf32>) -> tensor<1x12x7x7x16xf32>
    return %y0, %y1, %y2 : tensor<1x32x7x7x16xf32>, tensor<1x16x56x56x16xf32>, tensor<1x12x7x7x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_NCHWc {
// CHECK:        te.reorder %n, %koo, %y, %xo, %r, %s, %c, %ci, %xi, %koi, %kv
// CHECK:        te.prefetch "p1" at %koo offset 1 spread %c
// CHECK-NEXT:   %n_koo = te.fuse %n, %koo
// CHECK-NEXT:   te.parallel %n_koo

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_NCHWc_1 {
// CHECK-NOT:    te.prefetch
// CHECK:        %n_koo_y = te.fuse %n, %koo, %y

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_NCHWc_2 {
// CHECK-NOT:    te.prefetch
// CHECK:        %n_koo_y = te.fuse %n, %koo, %y
