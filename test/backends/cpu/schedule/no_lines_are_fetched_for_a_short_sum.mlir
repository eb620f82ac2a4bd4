// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A tile of 14 rows and two vectors would need 28 bodies of four steps to fetch what it stores to; here there are 8.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<70x32xf32>, %B: tensor<32x64xf32>) -> tensor<70x64xf32> {
    %y = te.compute "C" [70, 64] sum [32] (%i, %j, %k) : tensor<70x64xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<70x32xf32>
      %b = te.read %B[%k, %j] : tensor<32x64xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<70x64xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK:         te.split %i [-1, 14]
// CHECK-NOT:     te.prefetch
// CHECK:       }
