// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Columns are read along memory: their loop goes around the vectors, in tiles. Rows of 14 pixels are no whole tiles and
// lie one behind the other on both sides, so the pixels of an image are counted through; the last tile of 196 is apart.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @transpose(%X: tensor<48x64xf32>) -> tensor<64x48xf32> {
    %y = te.compute "y" [64, 48] (%i, %j) : tensor<64x48xf32> {
      %x = te.read %X[%j, %i] : tensor<48x64xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<64x48xf32>
  }
  te.func @from_blocks(%X: tensor<1x4x14x14x16xf32>) -> tensor<1x64x14x14xf32> {
    %y = te.compute "y" [1, 64, 14, 14] (%n, %c, %h, %w) : tensor<1x64x14x14xf32> {
      %x = te.read %X[%n, %c floordiv 16, %h, %w, %c mod 16] : tensor<1x4x14x14x16xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<1x64x14x14xf32>
  }
}

// CHECK-LABEL: te.schedule @transpose {
// CHECK-NEXT:   %i, %j = te.loops "y" [2]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 16]
// CHECK-NEXT:   %io, %ii = te.split %i [-1, 16]
// CHECK-NEXT:   te.reorder %io, %jo, %ii, %ji
// CHECK-NEXT:   te.parallel %io
// CHECK-NEXT:   te.vectorize %ji
// CHECK-NEXT: }

// CHECK-LABEL: te.schedule @from_blocks {
// CHECK-NEXT:   %n, %c, %h, %w = te.loops "y" [4]
// CHECK-NEXT:   %h_w = te.fuse %h, %w
// CHECK-NEXT:   %h_wo, %h_wi = te.split %h_w [-1, 16]
// CHECK-NEXT:   %co, %ci = te.split %c [-1, 16]
// CHECK-NEXT:   te.reorder %n, %co, %h_wo, %ci, %h_wi
// CHECK-NEXT:   %n_co = te.fuse %n, %co
// CHECK-NEXT:   te.parallel %n_co
// CHECK-NEXT:   te.vectorize %h_wi
// CHECK-NEXT:   te.partition %h_wo
// CHECK-NEXT: }
