// RUN: opt-tool %s -p cpu-schedule | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @f(%X: tensor<2xf32>) -> tensor<2xf32> {
    te.return %X : tensor<2xf32>
  }
}

// CHECK-LABEL: te.func @f
// CHECK-NEXT: te.return %X
// CHECK-NOT: te.schedule
