// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A function with many constants leaves registers for four vectors of columns; a plain sum has sixteen.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @functions(%X: tensor<37x256xf32>) -> tensor<256xf32> {
    %y = te.compute "y" [256] sum [37] (%i, %k) : tensor<256xf32> {
      %x = te.read %X[%k, %i] : tensor<37x256xf32>
      %e = math.exp %x : f32
      te.yield %e : f32
    }
    te.return %y : tensor<256xf32>
  }
  te.func @plain(%X: tensor<37x256xf32>) -> tensor<256xf32> {
    %y = te.compute "y" [256] sum [37] (%i, %k) : tensor<256xf32> {
      %x = te.read %X[%k, %i] : tensor<37x256xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<256xf32>
  }
}
// CHECK-LABEL: te.schedule @functions {
// CHECK:         te.split %i [-1, 4, 16]
// CHECK-LABEL: te.schedule @plain {
// CHECK:         te.split %i [-1, 16, 16]
