// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// For one thread a block is two rows of tiles. Two threads would share seven of these unevenly: a block is one row.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  func.func @main(%x: tensor<1x4x56x56x16xf32>, %u: tensor<6x6x2x4x16x32xf32>, %k: tensor<2x4x3x3x16x32xf32>, %l: tensor<f32>) -> tensor<1x4x56x56x16xf32> {
    %f = relay.fn (%p0: tensor<1x4x56x56x16xf32>, %p1: tensor<6x6x2x4x16x32xf32>, %p2: tensor<2x4x3x3x16x32xf32>, %p3: tensor<f32>) -> tensor<1x4x56x56x16xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_winograd_NCHWc %p0, %p1, %p2, %p3 {channels = 64, padding = [1, 1], tile_size = 4} : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>, tensor<2x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x4x56x56x16xf32>
      relay.return %0 : tensor<1x4x56x56x16xf32>
    }
    %y = relay.call %f(%x, %u, %k, %l) : (tensor<1x4x56x56x16xf32>, tensor<6x6x2x4x16x32xf32>, tensor<2x4x3x3x16x32xf32>, tensor<f32>) -> tensor<1x4x56x56x16xf32>
    return %y : tensor<1x4x56x56x16xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_winograd_NCHWc {
// CHECK:        %yo, %yi = te.split %y [-1, 4]
// CHECK:        %yoo, %yoi = te.split %yo [-1, 1]
// CHECK:        %n_yoo = te.fuse %n, %yoo
// CHECK-NEXT:   te.parallel %n_yoo
