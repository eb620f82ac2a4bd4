// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// A window's data goes by once for four vectors of output channels, not for two; a kernel of one pixel reads each value
// but once for all of its taps, and longer rows of two vectors leave registers.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x4x56x56x16xf32>, %w: tensor<2x4x3x3x16x32xf32>, %v: tensor<2x4x1x1x16x32xf32>) -> (tensor<1x4x56x56x16xf32>, tensor<1x4x56x56x16xf32>) {
    %f = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 64, padding = [1, 1]} : (tensor<1x4x56x56x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x56x56x16xf32>
      relay.return %0 : tensor<1x4x56x56x16xf32>
    }
    %g = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<2x4x1x1x16x32xf32>) -> tensor<1x4x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 64} : (tensor<1x4x56x56x16xf32>, tensor<2x4x1x1x16x32xf32>) -> tensor<1x4x56x56x16xf32>
      relay.return %0 : tensor<1x4x56x56x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x4x56x56x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x56x56x16xf32>
    %z = relay.call %g(%x, %v) : (tensor<1x4x56x56x16xf32>, tensor<2x4x1x1x16x32xf32>) -> tensor<1x4x56x56x16xf32>
    return %y, %z : tensor<1x4x56x56x16xf32>, tensor<1x4x56x56x16xf32>
  }
}

// CHECK: te.split %ko [-1, 4]
// CHECK: te.split %x [-1, 7]
// CHECK: te.split %ko [-1, 2]
// CHECK: te.split %x [-1, 14]
