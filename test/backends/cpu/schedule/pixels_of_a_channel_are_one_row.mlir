// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: sed 's/threads = 1/threads = 16/' %s | opt-tool - -p cpu-schedule | filecheck %s --check-prefix=THREADS
// Rows of 55 pixels go on in memory: those of a channel are one row, whose end is one vector of 190. Tensors that begin
// with another channel, and factors of a channel, leave them together; factors of a pixel of a row, and borders, do not.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @channels(%X: tensor<3x55x55xf32>, %S: tensor<8x1x1xf32>) -> tensor<8x55x55xf32> {
    %y = te.compute "y" [8, 55, 55] (%c, %i, %j) : tensor<8x55x55xf32> {
      %x = te.read %X[%c - 5, %i, %j] where [%c - 5 >= 0] : tensor<3x55x55xf32>
      %s = te.read %S[%c, 0, 0] : tensor<8x1x1xf32>
      %p = arith.mulf %x, %s : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x55x55xf32>
  }
  te.func @rows(%X: tensor<8x55x55xf32>, %S: tensor<55xf32>) -> tensor<8x55x55xf32> {
    %y = te.compute "y" [8, 55, 55] (%c, %i, %j) : tensor<8x55x55xf32> {
      %x = te.read %X[%c, %i, %j] : tensor<8x55x55xf32>
      %s = te.read %S[%j] : tensor<55xf32>
      %p = arith.mulf %x, %s : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x55x55xf32>
  }
  te.func @border(%X: tensor<8x53x55xf32>) -> tensor<8x55x55xf32> {
    %y = te.compute "y" [8, 55, 55] (%c, %i, %j) : tensor<8x55x55xf32> {
      %x = te.read %X[%c, %i - 1, %j] where [%i - 1 >= 0, %i * -1 + 53 >= 0] : tensor<8x53x55xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<8x55x55xf32>
  }
  te.func @whole_vectors(%X: tensor<8x55x64xf32>) -> tensor<8x55x64xf32> {
    %y = te.compute "y" [8, 55, 64] (%c, %i, %j) : tensor<8x55x64xf32> {
      %x = te.read %X[%c, %i, %j] : tensor<8x55x64xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<8x55x64xf32>
  }
}

// CHECK-LABEL: te.schedule @channels {
// CHECK-NEXT:   %c, %i, %j = te.loops "y" [3]
// CHECK-NEXT:   %i_j = te.fuse %i, %j
// CHECK-NEXT:   %i_jo, %i_ji = te.split %i_j [-1, 16]
// CHECK-NEXT:   te.reorder %c, %i_jo, %i_ji
// CHECK-NEXT:   te.parallel %c
// CHECK-NEXT:   te.pragma %i_jo "loop_partition_hint" = 2
// CHECK-NEXT:   te.vectorize %i_ji
// CHECK-LABEL: te.schedule @rows {
// CHECK:        te.split %j [-1, 16]
// CHECK-LABEL: te.schedule @border {
// CHECK:        te.split %j [-1, 16]
// CHECK-LABEL: te.schedule @whole_vectors {
// CHECK:        te.split %j [-1, 16]
// CHECK-NOT:    te.pragma

// Eight channels are too few for sixteen threads.
// THREADS-LABEL: te.schedule @channels {
// THREADS:        te.split %j [-1, 16]
