// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Products of one row with rows: each element reads a row of its own, and the row that all share stays in the first-level
// cache; the sum goes in lanes. Its four vectors are no loop.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @row(%past: index, %q: tensor<12x1x64xf32>, %k: tensor<12x?x64xf32> {te.shape = #te.map<(d0) -> (12, d0, 64)>})
      -> tensor<12x1x?xf32> {
    %y = te.compute "y" [12, 1, %past] sum [64] (%b, %m, %n, %r) : tensor<12x1x?xf32> attributes {tag = "nn.batch_matmul"} {
      %0 = te.read %q[%b, %m, %r] : tensor<12x1x64xf32>
      %1 = te.read %k[%b, %n, %r] : tensor<12x?x64xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<12x1x?xf32>
  }
}
// CHECK-LABEL: te.schedule @row {
// CHECK:         te.rfactor "y" at
// CHECK:         te.unroll %y_rf_rf{{.*}}_at
// CHECK:         te.parallel %b
