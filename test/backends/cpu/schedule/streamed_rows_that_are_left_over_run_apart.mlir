// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A large second factor is read 8 rows at a time whatever their number: the last ones, which are fewer, run apart.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<3x509xf32>, %B: tensor<509x256xf32>) -> tensor<3x256xf32> {
    %y = te.compute "C" [3, 256] sum [509] (%i, %j, %k) : tensor<3x256xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<3x509xf32>
      %b = te.read %B[%k, %j] : tensor<509x256xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<3x256xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK-NEXT:    %i, %j, %k = te.loops "C" [3]
// CHECK-NEXT:    %ko, %ki = te.split %k [-1, 8]
// CHECK:         %i_1, %j_1, %ko_1 = te.loops "C" [3]
// CHECK:         te.partition %ko_1
// CHECK-NEXT:  }
