// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-skip-padding,tir-simplify,tir-vectorize-loop | filecheck %s
// Rows of the window beside the image are left out, pixels beside it are idle lanes; nothing is padded. Four rows are a tile,
// since two vectors would wait for themselves.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x24x28x28xf32>, %w: tensor<24x1x3x3xf32>) -> tensor<1x24x28x28xf32> {
    %f = relay.fn (%p0: tensor<1x24x28x28xf32>, %p1: tensor<24x1x3x3xf32>) -> tensor<1x24x28x28xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 {padding = [1, 1], groups = 24} : (tensor<1x24x28x28xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x28x28xf32>
      relay.return %0 : tensor<1x24x28x28xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x24x28x28xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x28x28xf32>
    return %y : tensor<1x24x28x28xf32>
  }
}

// CHECK-NOT:  "pad"
// CHECK:      tir.for %n_k_yo = 0 to 168 parallel "conv.n+conv.k+conv.y.0" {
// CHECK:        tir.for %r = 0 to 3 unrolled reduction "conv.r" {
// CHECK-NEXT:     tir.for %yi = 0 to 4 unrolled "conv.y.1" {
// CHECK-NEXT:       tir.if [%yi + %n_k_yo mod 7 * 4 + %r - 1 >= 0, %yi * -1 + %n_k_yo mod 7 * -4 + %r * -1 + 28 >= 0] {
// CHECK-NEXT:         tir.for %s = 0 to 3 unrolled reduction "conv.s" {
// CHECK-NEXT:           tir.for %x1 = 0 to 2 unrolled "conv.x.1" {
// CHECK:                  tir.load %p0[{{.*}}] where [{{.*}}lane{{.*}}] : memref<1x24x28x28xf32>, vector<16xf32>
