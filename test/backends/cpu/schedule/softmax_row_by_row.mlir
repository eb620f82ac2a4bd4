// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s
// A row stays in the cache; its maximum and its sum are taken in chains of vectors, quarters, and one by one.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<6x128xf32>) -> tensor<6x128xf32> {
    %y = relay.nn.softmax %x : tensor<6x128xf32>
    return %y : tensor<6x128xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_softmax {
// CHECK-NEXT:    %i0, %k = te.loops "softmax_max" [2]
// CHECK-NEXT:    %ko, %ka, %kb = te.split %k [-1, 4, 4]
// CHECK-NEXT:    {{.*}} = te.rfactor "softmax_max" at %kb axis 1 [4]
// CHECK-NEXT:    {{.*}} = te.rfactor "softmax_max.rf" at %softmax_max_rf2 axis 1 [4]
// CHECK-NEXT:    %{{.*}}, %[[CHAIN:.*]] = te.split %{{.*}} [-1, 4]
// CHECK-NEXT:    {{.*}} = te.rfactor "softmax_max.rf.rf" at %[[CHAIN]] axis 1 [5]
// CHECK:         %[[ROW:.*]], %{{.*}} = te.loops "softmax" [2]
// CHECK:         te.compute_at "softmax_sum" at %[[ROW]] [2]
// CHECK:         te.compute_at "softmax_exp" at %[[ROW]] [2]
// CHECK:         te.compute_at "softmax_max" at %[[ROW]] [2]
// CHECK:         te.parallel %[[ROW]]
