// RUN: opt-tool %s -p cpu-order-weights | filecheck %s
// RUN: opt-tool %s -p cpu-order-weights,relay-fold-constant,relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s --check-prefix ORDER
// One stream of weights: the taps outside of the input channels, as the kernel goes through them.

// CHECK:      %0 = relay.layout_transform %w {dst_layout = "OHWI16i32o", src_layout = "OIHW16i32o"} : (tensor<1x2x3x3x16x32xf32>) -> tensor<1x3x3x2x16x32xf32>
// CHECK-NEXT: %y = relay.nn.contrib_conv2d_NCHWc %x, %0 {channels = 32, kernel_layout = "OHWI16i32o", strides = [2, 2]}
// ORDER:      te.read %p1[0, %r, %s, %c, %ci, %ko * 16 + %kv] : tensor<1x3x3x2x16x32xf32>
// ORDER:      te.reorder %n, %koo, %y, %xo, %r, %s, %c, %ci, %xi, %koi, %kv
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x9x9x16xf32>) -> tensor<1x2x4x4x16xf32> {
    %w = relay.constant dense<1.0> : tensor<1x2x3x3x16x32xf32>
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 32, strides = [2, 2]}
      : (tensor<1x2x9x9x16xf32>, tensor<1x2x3x3x16x32xf32>) -> tensor<1x2x4x4x16xf32>
    return %y : tensor<1x2x4x4x16xf32>
  }
}
