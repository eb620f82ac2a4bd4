// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Tiles of pixels on channel blocks, vectors of pixels in plain layouts; those at the ends of a row are code of their own.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x28x28x16xf32>, %z: tensor<1x2x28x28xf32>) -> (tensor<1x2x28x28x16xf32>, tensor<1x2x28x28xf32>) {
    %f = relay.fn (%p0: tensor<1x2x28x28x16xf32>) -> tensor<1x2x28x28x16xf32> attributes {Primitive = 1 : i64} {
      %y = relay.nn.max_pool2d %p0 {layout = "NCHW16c", padding = [1, 1, 1, 1], pool_size = [3, 3]} : tensor<1x2x28x28x16xf32>
      relay.return %y : tensor<1x2x28x28x16xf32>
    }
    %g = relay.fn (%p0: tensor<1x2x28x28xf32>) -> tensor<1x2x28x28xf32> attributes {Primitive = 1 : i64} {
      %y = relay.nn.avg_pool2d %p0 {padding = [1, 1, 1, 1], pool_size = [3, 3]} : tensor<1x2x28x28xf32>
      relay.return %y : tensor<1x2x28x28xf32>
    }
    %0 = relay.call %f(%x) : (tensor<1x2x28x28x16xf32>) -> tensor<1x2x28x28x16xf32>
    %1 = relay.call %g(%z) : (tensor<1x2x28x28xf32>) -> tensor<1x2x28x28xf32>
    func.return %0, %1 : tensor<1x2x28x28x16xf32>, tensor<1x2x28x28xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_max_pool2d {
// CHECK-NEXT:    te.compute_inline "pad"
// CHECK:         te.split %i3 [-1, 7]
// CHECK:         te.unroll %i3i
// CHECK:         te.pragma %i3o "loop_partition_hint" = 1 : i64
// CHECK-LABEL: te.schedule @fused_nn_avg_pool2d {
// CHECK-NEXT:    te.compute_inline "pad"
// CHECK:         te.split %i3 [-1, 16]
// CHECK:         te.pragma %i3o "loop_partition_hint" = 1 : i64
