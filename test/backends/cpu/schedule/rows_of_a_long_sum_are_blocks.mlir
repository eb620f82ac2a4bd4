// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A sum of 8192 terms loses digits in one chain. It is 128 sums of 64, which is as few as are worth a sum of their own.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @f(%X: tensor<128x64x256xf32>) -> tensor<256xf32> {
    %y = te.compute "y" [256] sum [128, 64] (%i, %k, %l) : tensor<256xf32> {
      %x = te.read %X[%k, %l, %i] : tensor<128x64x256xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<256xf32>
  }
}

// CHECK-LABEL: te.schedule @f {
// CHECK:         te.rfactor "y" at %k axis 1
