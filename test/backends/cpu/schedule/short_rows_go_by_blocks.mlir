// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s
// Four rows at a time: while the lanes of one are combined, the next is under way. Idle lanes are in the last step only.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<64x77xf32>) -> tensor<64x77xf32> {
    %y = relay.nn.softmax %x : tensor<64x77xf32>
    return %y : tensor<64x77xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_softmax {
// CHECK-NEXT:    te.cache_write "softmax_max" scope "register"
// CHECK-NEXT:    te.cache_write "softmax_sum" scope "register"
// CHECK:         %[[ROWS:.*]], %[[ROW:.*]] = te.split %{{.*}} [-1, 4]
// CHECK:         %[[OWN:.*]] = te.compute_at "softmax_sum.out" at %[[ROWS]] [1]
// CHECK-NEXT:    te.compute_at "softmax_sum" at %[[OWN]] [2]
// CHECK:         te.compute_at "softmax_exp" at %[[ROWS]] [2]
// CHECK:         %[[OWN:.*]] = te.compute_at "softmax_max.out" at %[[ROWS]] [1]
// CHECK-NEXT:    te.compute_at "softmax_max" at %[[OWN]] [2]
// CHECK:         te.compute_at "softmax_max.rf.rf" at %[[OWN]] [4]
// CHECK:         te.pragma %{{.*}} "loop_partition_hint" = 1
// CHECK:         te.parallel %[[ROWS]]
