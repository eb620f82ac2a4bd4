// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// All hundred steps would be more code than a body may have: two loops, of which the inner one is unrolled. Of thirty
// steps there is no loop left.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @hundred(%A: tensor<100x64xf32>, %B: tensor<100x64xf32>) -> tensor<64xf32> {
    %y = te.compute "y" [64] sum [100] (%i, %k) : tensor<64xf32> {
      %a = te.read %A[%k, %i] : tensor<100x64xf32>
      %b = te.read %B[%k, %i] : tensor<100x64xf32>
      %s = arith.subf %a, %b : f32
      %t = arith.mulf %s, %s : f32
      te.yield %t : f32
    }
    te.return %y : tensor<64xf32>
  }
  te.func @thirty(%A: tensor<30x64xf32>, %B: tensor<30x64xf32>) -> tensor<64xf32> {
    %y = te.compute "y" [64] sum [30] (%i, %k) : tensor<64xf32> {
      %a = te.read %A[%k, %i] : tensor<30x64xf32>
      %b = te.read %B[%k, %i] : tensor<30x64xf32>
      %s = arith.subf %a, %b : f32
      %t = arith.mulf %s, %s : f32
      te.yield %t : f32
    }
    te.return %y : tensor<64xf32>
  }
}

// CHECK-LABEL: te.schedule @hundred {
// CHECK:         %ko, %ki = te.split %k [-1, 50]
// CHECK-NEXT:    te.unroll %ki
// CHECK-LABEL: te.schedule @thirty {
// CHECK-NOT:     te.split %k
// CHECK:         te.unroll %k
