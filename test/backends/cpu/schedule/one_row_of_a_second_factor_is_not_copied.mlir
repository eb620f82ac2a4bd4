// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: opt-tool %s -p cpu-schedule,te-to-tir -o /dev/null
// A panel of a sum of one step lies as it is read: no copy has loops over its rows.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<8x80x1xf32>, %B: tensor<1x1x512xf32>) -> tensor<8x80x512xf32> {
    %y = te.compute "C" [8, 80, 512] sum [1] (%p, %i, %j, %k) : tensor<8x80x512xf32> attributes {tag = "nn.batch_matmul"} {
      %a = te.read %A[%p, %i, %k] : tensor<8x80x1xf32>
      %b = te.read %B[0, %k, %j] : tensor<1x1x512xf32>
      %c = arith.mulf %a, %b : f32
      te.yield %c : f32
    }
    te.return %y : tensor<8x80x512xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK-NOT:     scope "global"
// CHECK:       }
