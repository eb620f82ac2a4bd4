// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: sed 's/"x86-64-v4"/"znver4"/' %s | opt-tool -p relay-to-te,cpu-schedule | filecheck %s --check-prefix CHECK-ZEN4
// The weights of the next output channels are fetched meanwhile. On Zen 4 where 49 tiles meet each weight; not for 16
// tiles, which take the weights as fast as memory brings them.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x0: tensor<1x16x28x28x16xf32>, %w0: tensor<6x6x8x16x16x32xf32>, %k0: tensor<8x16x3x3x16x32xf32>, %l0: tensor<f32>, %x1: tensor<1x32x14x14x16xf32>, %w1: tensor<6x6x16x32x16x32xf32>, %k1: tensor<16x32x3x3x16x32xf32>, %l1: tensor<f32>) -> (tensor<1x16x28x28x16xf32>, tensor<1x32x14x14x16xf32>) {
    %f0 = relay.fn (%p0: tensor<1x16x28x28x16xf32>, %p1: tensor<6x6x8x16x16x32xf32>, %p2: tensor<8x16x3x3x16x32xf32>, %p3: tensor<f32>) -> tensor<1x16x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 256, padding = [1, 1], tile_size = 4} : (tensor<1x16x28x28x16xf32>, tensor<6x6x8x16x16x32xf32>, tensor<8x16x3x3x16x32xf32>, tensor<f32>) -> tensor<1x16x28x28x16xf32>
      relay.return %0 : tensor<1x16x28x28x16xf32>
    }
    %y0 = relay.call %f0(%x0, %w0, %k0, %l0) : (tensor<1x16x28x28x16xf32>, tensor<6x6x8x16x16x32xf32>, tensor<8x16x3x3x16x32xf32>, tensor<f32>) -> tensor<1x16x28x28x16xf32>
    %f1 = relay.fn (%p0: tensor<1x32x14x14x16xf32>, %p1: tensor<6x6x16x32x16x32xf32>, %p2: tensor<16x32x3x3x16x32xf32>, %p3: tensor<f32>) -> tensor<1x32x14x14x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 512, padding = [1, 1], tile_size = 4} : (tensor<1x32x14x14x16xf32>, tensor<6x6x16x32x16x32xf32>, tensor<16x32x3x3x16x32xf32>, tensor<f32>) -> tensor<1x32x14x14x16xf32>
      relay.return %0 : tensor<1x32x14x14x16xf32>
    }
    %y1 = relay.call %f1(%x1, %w1, %k1, %l1) : (tensor<1x32x14x14x16xf32>, tensor<6x6x16x32x16x32xf32>, tensor<16x32x3x3x16x32xf32>, tensor<f32>) -> tensor<1x32x14x14x16xf32>
    return %y0, %y1 : tensor<1x16x28x28x16xf32>, tensor<1x32x14x14x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc {
// CHECK:        te.prefetch "p1" at %{{.*}} offset 1 spread %c
// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc_1 {
// CHECK:        te.prefetch "p1" at %{{.*}} offset 1 spread %c

// CHECK-ZEN4-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc {
// CHECK-ZEN4:        te.prefetch "p1" at %{{.*}} offset 1 spread %c
// CHECK-ZEN4-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc_1 {
// CHECK-ZEN4-NOT:    te.prefetch
