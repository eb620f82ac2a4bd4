// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// One row: a large second factor is read as it lies, 8 of its rows at a time, and the sums stay in memory.
// Columns that fill no tile of 64 are a loop of their own: a condition in each tile would take its vectors apart.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<1x512xf32>, %B: tensor<512x256xf32>) -> tensor<1x256xf32> {
    %y = te.compute "C" [1, 256] sum [512] (%i, %j, %k) : tensor<1x256xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<1x512xf32>
      %b = te.read %B[%k, %j] : tensor<512x256xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<1x256xf32>
  }
  te.func @ragged(%A: tensor<1x512xf32>, %B: tensor<512x250xf32>) -> tensor<1x250xf32> {
    %y = te.compute "C" [1, 250] sum [512] (%i, %j, %k) : tensor<1x250xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<1x512xf32>
      %b = te.read %B[%k, %j] : tensor<512x250xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<1x250xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK-NEXT:    %i, %j, %k = te.loops "C" [3]
// CHECK-NEXT:    %ko, %ki = te.split %k [-1, 8]
// CHECK-NEXT:    %C_rf0, %C_rf1, %C_rf2, %C_rf3 = te.rfactor "C" at %ko axis 0 [4]
// CHECK-NEXT:    %i_1, %j_1, %ko_1 = te.loops "C" [3]
// CHECK-NEXT:    %jo, %ja, %jb = te.split %j_1 [-1, 4, 16]
// CHECK-NEXT:    te.reorder %ko_1, %jo, %i_1, %ja, %jb
// CHECK-NEXT:    te.decompose_reduction "C" at %ko_1
// CHECK-NEXT:    {{.*}} = te.compute_at "C.rf" at %jo [4]
// CHECK-NEXT:    te.set_scope "C.rf" "register"
// CHECK-NOT:     te.partition

// CHECK-LABEL: te.schedule @ragged {
// CHECK:         %jo, %ja, %jb = te.split %j_1 [-1, 4, 16]
// CHECK:         te.partition %jo
