// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A channel's scale is the same in all lanes: that its channels lie side by side makes no transpose of it.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @scale(%X: tensor<64x9x32xf32>, %S: tensor<64xf32>) -> tensor<64x9x32xf32> {
    %y = te.compute "y" [64, 9, 32] (%c, %i, %j) : tensor<64x9x32xf32> {
      %x = te.read %X[%c, %i, %j] : tensor<64x9x32xf32>
      %s = te.read %S[%c] : tensor<64xf32>
      %p = arith.mulf %x, %s : f32
      te.yield %p : f32
    }
    te.return %y : tensor<64x9x32xf32>
  }
}

// CHECK-LABEL: te.schedule @scale {
// CHECK-NEXT:    %c, %i, %j = te.loops "y" [3]
// CHECK-NEXT:    %jo, %ji = te.split %j [-1, 16]
// CHECK-NEXT:    te.reorder %c, %i, %jo, %ji
// CHECK:         te.vectorize %ji
