// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// The rows of a state are a part of its memory, in its order: the product reads them there, though it reads each several
// times. A transpose of them is computed once.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @window(%p: tensor<4x5x40xf32>, %s: tensor<1x4x64x32xf32>) -> tensor<4x5x32xf32> {
    %w = te.compute "w" [1, 4, 40, 32] (%i, %j, %k, %l) : tensor<1x4x40x32xf32> {
      %0 = te.read %s[%i, %j, %k + 8, %l] : tensor<1x4x64x32xf32>
      te.yield %0 : f32
    }
    %r = te.compute "r" [4, 40, 32] (%j, %k, %l) : tensor<4x40x32xf32> {
      %0 = te.read %w[0, %j, %k, %l] : tensor<1x4x40x32xf32>
      te.yield %0 : f32
    }
    %y = te.compute "y" [4, 5, 32] sum [40] (%b, %m, %n, %k) : tensor<4x5x32xf32> attributes {tag = "nn.batch_matmul"} {
      %0 = te.read %p[%b, %m, %k] : tensor<4x5x40xf32>
      %1 = te.read %r[%b, %k, %n] : tensor<4x40x32xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<4x5x32xf32>
  }
  te.func @turned(%p: tensor<4x5x40xf32>, %s: tensor<4x32x40xf32>) -> tensor<4x5x32xf32> {
    %t = te.compute "t" [4, 40, 32] (%j, %k, %l) : tensor<4x40x32xf32> {
      %0 = te.read %s[%j, %l, %k] : tensor<4x32x40xf32>
      te.yield %0 : f32
    }
    %y = te.compute "y" [4, 5, 32] sum [40] (%b, %m, %n, %k) : tensor<4x5x32xf32> attributes {tag = "nn.batch_matmul"} {
      %0 = te.read %p[%b, %m, %k] : tensor<4x5x40xf32>
      %1 = te.read %t[%b, %k, %n] : tensor<4x40x32xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<4x5x32xf32>
  }
}
// CHECK-LABEL: te.schedule @window {
// CHECK-DAG:     te.compute_inline "w"
// CHECK-DAG:     te.compute_inline "r"
// CHECK-LABEL: te.schedule @turned {
// CHECK-NOT:     te.compute_inline "t"
