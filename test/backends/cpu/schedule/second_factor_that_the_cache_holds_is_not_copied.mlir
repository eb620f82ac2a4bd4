// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A second factor that stays in the second-level cache is read as it lies, however many rows share it.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<70x300xf32>, %B: tensor<300x400xf32>) -> tensor<70x400xf32> {
    %y = te.compute "C" [70, 400] sum [300] (%i, %j, %k) : tensor<70x400xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<70x300xf32>
      %b = te.read %B[%k, %j] : tensor<300x400xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<70x400xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK:         te.reorder %jo, %io, %k, %ii, %ja, %jb
// CHECK-NOT:     scope "global"
// CHECK:         te.cache_read "B" in "C" at %k scope "register" [1]
// CHECK-NOT:     scope "global"
// CHECK:         te.partition %jo
