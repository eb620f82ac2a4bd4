// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Four channels beside each other, each from a plane of its own: vectors go along the columns, as the planes do.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @interleave(%X: tensor<4x8x20xf32>) -> tensor<8x20x4xf32> {
    %y = te.compute "y" [8, 20, 4] (%i, %j, %c) : tensor<8x20x4xf32> {
      %x = te.read %X[%c, %i, %j] : tensor<4x8x20xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<8x20x4xf32>
  }
  te.func @neighbours(%X: tensor<8x20x4xf32>) -> tensor<8x20x4xf32> {
    %y = te.compute "y" [8, 20, 4] (%i, %j, %c) : tensor<8x20x4xf32> {
      %x = te.read %X[%i, %j, %c] : tensor<8x20x4xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<8x20x4xf32>
  }
}

// CHECK-LABEL: te.schedule @interleave {
// CHECK-NEXT:   %i, %j, %c = te.loops "y" [3]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 16]
// CHECK-NEXT:   te.reorder %i, %jo, %c, %ji
// CHECK-NEXT:   te.parallel %i
// CHECK-NEXT:   te.unroll %c
// CHECK-NEXT:   te.vectorize %ji
// CHECK-NEXT:   te.partition %jo
// CHECK-LABEL: te.schedule @neighbours {
// CHECK:        te.fuse %j, %c
// CHECK:        te.vectorize %j_ci
