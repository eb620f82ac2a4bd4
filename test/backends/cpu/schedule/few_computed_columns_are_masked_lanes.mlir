// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Fourteen columns are sixteen lanes under a mask, also where the second factor is computed: no instruction has fourteen.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @product(%A: tensor<70x125xf32>, %B: tensor<125x14xf32>) -> tensor<70x14xf32> {
    %y = te.compute "C" [70, 14] sum [125] (%i, %j, %k) : tensor<70x14xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<70x125xf32>
      %b = te.read %B[%k, %j] : tensor<125x14xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %y : tensor<70x14xf32>
  }
}

// CHECK-LABEL: te.schedule @product {
// CHECK:         %jo, %ja, %[[LANE:.*]] = te.split %j [-1, 1, 16]
// CHECK:         te.vectorize %[[LANE]]
// CHECK:         te.pragma %[[LANE]] "masked_lanes" = 1
