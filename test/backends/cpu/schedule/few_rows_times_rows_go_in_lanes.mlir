// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Queries of a step with keys: of two rows at a time the sums go in lanes, and a key is read once for both. How many rows
// there are may be known to the run alone: the last one is a body of its own. Many rows get a tile of vectors of columns.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @few(%q: tensor<12x3x64xf32>, %k: tensor<12x96x64xf32>) -> tensor<12x3x96xf32> {
    %y = te.compute "y" [12, 3, 96] sum [64] (%b, %m, %n, %r) : tensor<12x3x96xf32> attributes {tag = "nn.batch_matmul"} {
      %0 = te.read %q[%b, %m, %r] : tensor<12x3x64xf32>
      %1 = te.read %k[%b, %n, %r] : tensor<12x96x64xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<12x3x96xf32>
  }
  te.func @open(%s: index, %q: tensor<?x64xf32> {te.shape = #te.map<(d0) -> (d0, 64)>}, %k: tensor<96x64xf32>)
      -> tensor<?x96xf32> {
    %y = te.compute "y" [%s, 96] sum [64] (%m, %n, %r) : tensor<?x96xf32> attributes {tag = "nn.matmul"} {
      %0 = te.read %q[%m, %r] : tensor<?x64xf32>
      %1 = te.read %k[%n, %r] : tensor<96x64xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<?x96xf32>
  }
  te.func @many(%q: tensor<12x40x64xf32>, %k: tensor<12x96x64xf32>) -> tensor<12x40x96xf32> {
    %y = te.compute "y" [12, 40, 96] sum [64] (%b, %m, %n, %r) : tensor<12x40x96xf32> attributes {tag = "nn.batch_matmul"} {
      %0 = te.read %q[%b, %m, %r] : tensor<12x40x64xf32>
      %1 = te.read %k[%b, %n, %r] : tensor<12x96x64xf32>
      %2 = arith.mulf %0, %1 : f32
      te.yield %2 : f32
    }
    te.return %y : tensor<12x40x96xf32>
  }
}
// CHECK-LABEL: te.schedule @few {
// CHECK:         te.rfactor "y" at
// CHECK:         %[[M:.*]]o, %[[M]]i = te.split %{{.*}} [-1, 2]
// CHECK:         te.reorder %{{.*}}, %[[M]]o, %[[N:.*]], %[[M]]i
// CHECK-NEXT:    te.compute_at "y" at %[[N]]
// CHECK:         te.parallel %b
// CHECK-NEXT:    te.partition %[[M]]o
// CHECK-LABEL: te.schedule @open {
// CHECK:         te.rfactor "y" at
// CHECK:         te.reorder %[[N:.*]], %[[M:.*]]o, %[[M]]i
// CHECK:         te.parallel %[[N]]
// CHECK-NEXT:    te.partition %[[M]]o tails [1]
// CHECK-LABEL: te.schedule @many {
// CHECK-NOT:     te.rfactor
