// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// Sixteen accumulators for each vector that is loaded: of pixels where channels come first, of channels where they are
// last. What hangs over a row, 2 of 18 pixels, is a loop of its own. A transposed convolution of stride 2 is one for each
// of its four phases.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x8x4x9x20xf32>, %w: tensor<32x8x3x3x3xf32>,
                  %t: tensor<1x16x8x16xf32>, %u: tensor<16x32x4x4xf32>,
                  %a: tensor<1x18x18x8xf32>, %b: tensor<3x3x8x32xf32>)
      -> (tensor<1x32x2x7x18xf32>, tensor<1x32x16x32xf32>, tensor<1x16x16x32xf32>) {
    %0 = relay.nn.conv3d %x, %w : (tensor<1x8x4x9x20xf32>, tensor<32x8x3x3x3xf32>) -> tensor<1x32x2x7x18xf32>
    %1 = relay.nn.conv2d_transpose %t, %u {padding = [1, 1], strides = [2, 2]}
       : (tensor<1x16x8x16xf32>, tensor<16x32x4x4xf32>) -> tensor<1x32x16x32xf32>
    %2 = relay.nn.conv2d %a, %b {data_layout = "NHWC", kernel_layout = "HWIO"}
       : (tensor<1x18x18x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x16x16x32xf32>
    return %0, %1, %2 : tensor<1x32x2x7x18xf32>, tensor<1x32x16x32xf32>, tensor<1x16x16x32xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv3d {
// CHECK:         %ko, %ki = te.split %k [-1, 16]
// CHECK-NEXT:    %xo, %xi = te.split %x [-1, 16]
// CHECK-NEXT:    te.reorder %n, %ko, %z, %y, %xo, %c, %q, %r, %s, %ki, %xi
// CHECK:         te.unroll %ki
// CHECK:         te.vectorize %xi
// CHECK:         te.partition %xo

// CHECK-LABEL: te.func @fused_nn_conv2d_transpose
// CHECK:         te.compute "conv" [1, 32, 2, 2, 8, 16] sum [16, 2, 2]
// CHECK-LABEL: te.schedule @fused_nn_conv2d_transpose {
// CHECK:         te.cache_write "conv" scope "register"
// CHECK-NEXT:    %i0_1, %i1_1, %i2_1, %i3_1, %i4, %i5, %c, %r, %s = te.loops "conv" [9]
// CHECK-NEXT:    %i1o, %i1i = te.split %i1_1 [-1, 16]
// CHECK-NEXT:    %i5o, %i5i = te.split %i5 [-1, 16]
// CHECK-NEXT:    te.reorder %i0_1, %i1o, %i2_1, %i3_1, %i4, %i5o, %c, %r, %s, %i1i, %i5i
// CHECK:         te.vectorize %i5i

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         %xo, %xi = te.split %x [-1, 16]
// CHECK-NEXT:    %ko, %ki = te.split %k [-1, 16]
// CHECK-NEXT:    te.reorder %n, %y, %xo, %ko, %c, %r, %s, %xi, %ki
// CHECK:         te.unroll %xi
// CHECK:         te.vectorize %ki
