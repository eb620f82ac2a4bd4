// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Many rows share a large second factor: its panel is copied to lie as it is read. The next panel is fetched, little by
// little, while the rows meet this one. The last, narrower panel runs apart.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
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
// CHECK-NEXT:    te.cache_write "C" scope "register"
// CHECK-NEXT:    %i, %j, %k = te.loops "C" [3]
// CHECK-NEXT:    %jo, %ja, %jb = te.split %j [-1, 2, 16]
// CHECK-NEXT:    %io, %ii = te.split %i [-1, 14]
// CHECK-NEXT:    te.reorder %jo, %io, %k, %ii, %ja, %jb
// CHECK-NEXT:    %i_out, %j_out = te.reverse_compute_at "C.out" at %io [2]
// CHECK-NEXT:    %B0, %B1 = te.cache_read "B" in "C" at %jo scope "global" [2]
// CHECK-NEXT:    %B1o, %B1i = te.split %B1 [-1, 16]
// CHECK-NEXT:    te.unroll %B1o
// CHECK-NEXT:    te.vectorize %B1i
// CHECK-NEXT:    %B_global0 = te.cache_read "B.global" in "C" at %k scope "register" [1]
// CHECK:         te.parallel %jo
// CHECK-NEXT:    %ko, %ki = te.split %k [-1, 4]
// CHECK-NEXT:    te.unroll %ki
// CHECK-NEXT:    te.prefetch "C.out" at %io offset 0 write spread %ko
// CHECK-NEXT:    te.prefetch "B" at %jo offset 1 spread %ko
// CHECK:         te.vectorize %jb
// CHECK:         te.partition %jo
// CHECK-NEXT:  }
