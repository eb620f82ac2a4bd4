// RUN: opt-tool %s --split-input-file -p relay-to-te,cpu-schedule | filecheck %s
// Two threads share out the slices of a padded copy from two slices each on; of fewer they share out the rows, too.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  func.func @main(%x: tensor<1x3x56x24x16xf32>, %w: tensor<1x3x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> {
    %f = relay.fn (%p0: tensor<1x3x56x24x16xf32>, %p1: tensor<1x3x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 32, strides = [2, 2], padding = [1, 29, 1, 4]} : (tensor<1x3x56x24x16xf32>, tensor<1x3x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
      relay.return %0 : tensor<1x2x28x28x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x3x56x24x16xf32>, tensor<1x3x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
    return %y : tensor<1x2x28x28x16xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK:        te.loops "pad"
// CHECK:        [[few:%\S+]] = te.fuse %i0, %i1, %i2
// CHECK-NEXT:   te.parallel [[few]]
// CHECK:        te.pragma %i3 "loop_partition_hint"

// -----

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  func.func @main(%x: tensor<1x4x56x24x16xf32>, %w: tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x56x24x16xf32>, %p1: tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 32, strides = [2, 2], padding = [1, 29, 1, 4]} : (tensor<1x4x56x24x16xf32>, tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
      relay.return %0 : tensor<1x2x28x28x16xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x4x56x24x16xf32>, tensor<1x4x3x3x16x32xf32>) -> tensor<1x2x28x28x16xf32>
    return %y : tensor<1x2x28x28x16xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK:        te.loops "pad"
// CHECK:        [[many:%\S+]] = te.fuse %i0, %i1
// CHECK-NEXT:   te.parallel [[many]]
// CHECK:        te.pragma %i2 "loop_partition_hint"
// CHECK-NEXT:   te.pragma %i3 "loop_partition_hint"
