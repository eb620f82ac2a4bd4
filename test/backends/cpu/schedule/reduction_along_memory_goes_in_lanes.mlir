// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A row in lanes, combined in two steps; of three vectors, the last not whole, each is a sum of its own: no loop. Few
// columns are reduced side by side, a short row one element after the other.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @row(%X: tensor<6x37xf32>) -> tensor<6xf32> {
    %y = te.compute "y" [6] sum [37] (%i, %k) : tensor<6xf32> {
      %x = te.read %X[%i, %k] : tensor<6x37xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6xf32>
  }
  te.func @column(%X: tensor<31x6xf32>) -> tensor<6xf32> {
    %y = te.compute "y" [6] sum [31] (%i, %k) : tensor<6xf32> {
      %x = te.read %X[%k, %i] : tensor<31x6xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6xf32>
  }
  te.func @short(%X: tensor<6x9xf32>) -> tensor<6xf32> {
    %y = te.compute "y" [6] max [9] (%i, %k) : tensor<6xf32> {
      %x = te.read %X[%i, %k] : tensor<6x9xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6xf32>
  }
}
// CHECK-LABEL: te.schedule @row {
// CHECK:         te.rfactor "y" at
// CHECK:         te.rfactor "y.rf" at
// CHECK-NEXT:    %[[VECTORS:.*]]o, %[[VECTORS]]i = te.split %[[VECTORS]] [-1, 3]
// CHECK-NEXT:    %{{.*}} = te.rfactor "y.rf.rf" at %[[VECTORS]]i
// CHECK-NOT:     loop_partition_hint
// CHECK:         te.compute_at "y" at %i
// CHECK:         te.parallel %i
// CHECK-LABEL: te.schedule @column {
// CHECK-NOT:     te.rfactor
// CHECK-LABEL: te.schedule @short {
// CHECK-NOT:     te.rfactor
