// RUN: opt-tool %s -p 'relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule' | filecheck %s
// Eight sums have to be under way, or each waits for itself: a depthwise convolution takes them from a row, 56 pixels
// in one tile of seven vectors, 100 in two tiles of seven with a part of its own for what hangs over. Eight channels of
// a group are enough; where nothing hangs over there is one loop. Rows of 14 are short: two of them share a tile.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  func.func @main(%x: tensor<1x6x9x56xf32>, %w: tensor<6x1x3x3xf32>, %t: tensor<1x6x100xf32>, %u: tensor<6x1x5xf32>,
                  %a: tensor<1x32x9x58xf32>, %b: tensor<32x8x3x3xf32>,
                  %c: tensor<1x6x14x14xf32>)
      -> (tensor<1x6x9x56xf32>, tensor<1x6x100xf32>, tensor<1x32x7x56xf32>, tensor<1x6x14x14xf32>) {
    %0 = relay.nn.conv2d %x, %w {padding = [1, 1, 1, 1], groups = 6}
       : (tensor<1x6x9x56xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x9x56xf32>
    %1 = relay.nn.conv1d %t, %u {padding = [2, 2], groups = 6}
       : (tensor<1x6x100xf32>, tensor<6x1x5xf32>) -> tensor<1x6x100xf32>
    %2 = relay.nn.conv2d %a, %b {groups = 4} : (tensor<1x32x9x58xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x56xf32>
    %3 = relay.nn.conv2d %c, %w {padding = [1, 1, 1, 1], groups = 6}
       : (tensor<1x6x14x14xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x14x14xf32>
    return %0, %1, %2, %3 : tensor<1x6x9x56xf32>, tensor<1x6x100xf32>, tensor<1x32x7x56xf32>, tensor<1x6x14x14xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_conv2d {
// CHECK:         %ko, %ki = te.split %k [-1, 1]
// CHECK-NEXT:    %xo, %xa, %xb = te.split %x [-1, 7, 8]
// CHECK-NEXT:    te.reorder %n, %ko, %y, %xo, %c, %r, %s, %ki, %xa, %xb
// CHECK:         te.unroll %xa
// CHECK:         te.vectorize %xb
// CHECK-NOT:     te.partition

// CHECK-LABEL: te.schedule @fused_nn_conv1d {
// CHECK:         te.split %x [-1, 7, 8]
// CHECK:         te.partition %xo

// CHECK-LABEL: te.schedule @fused_nn_conv2d_1 {
// CHECK:         %ko, %ki = te.split %k [-1, 8]
// CHECK-NEXT:    %xo, %xi = te.split %x [-1, 8]
// CHECK-NOT:     te.partition

// CHECK-LABEL: te.schedule @fused_nn_conv2d_2 {
// CHECK:         %yo, %yi = te.split %y [-1, 2]
// CHECK-NEXT:    %xo, %xa, %xb = te.split %x [-1, 2, 8]
// CHECK-NEXT:    te.reorder %n, %ko, %yo, %xo, %c, %r, %s, %ki, %yi, %xa, %xb
// CHECK:         te.unroll %yi
// CHECK:         te.unroll %y_out
// CHECK:         te.partition %xo
