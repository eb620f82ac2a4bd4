// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A product asks for its tile and whether its second factor is copied; the module's answers are taken.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    lamina.choices = {"tile nn.matmul 70x400xf32 over 700 of 70x700xf32" = "5x4", "copy nn.matmul 70x400xf32 over 700 of 70x700xf32" = "none"}} {
  te.func @product(%A: tensor<70x700xf32>, %B: tensor<700x400xf32>) -> tensor<70x400xf32> {
    %y = te.compute "C" [70, 400] sum [700] (%i, %j, %k) : tensor<70x400xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<70x700xf32>
      %b = te.read %B[%k, %j] : tensor<700x400xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<70x400xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK:         %jo, %ja, %jb = te.split %j [-1, 4, 16]
// CHECK-NEXT:    %io, %ii = te.split %i [-1, 5]
// CHECK-NOT:     scope "global"
// CHECK:         te.cache_read "B" in "C" at %k scope "register" [1]
// CHECK-NOT:     scope "global"
// CHECK:         te.partition %jo
