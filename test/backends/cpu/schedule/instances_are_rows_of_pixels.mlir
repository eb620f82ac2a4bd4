// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s
// A channel's pixels are one row: counted through, reduced in lanes, read three times while the cache has them.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x8x7x10xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<1x8x7x10xf32> {
    %y = relay.nn.instance_norm %x, %s, %b : (tensor<1x8x7x10xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x7x10xf32>
    return %y : tensor<1x8x7x10xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_instance_norm {
// CHECK-NEXT:    %i0, %i1, %k2, %k3 = te.loops "sum" [4]
// CHECK-NEXT:    %[[K:.*]] = te.fuse %k2, %k3
// CHECK-NEXT:    %{{.*}}, %{{.*}}, %[[LANE:.*]] = te.split %[[K]] [-1, 4, 4]
// CHECK-NEXT:    {{.*}} = te.rfactor "sum" at %[[LANE]] axis 2 [5]
// CHECK:         %[[N:.*]], %[[C:.*]], %i2, %i3 = te.loops "instance_norm" [4]
// CHECK-NEXT:    %i2_i3 = te.fuse %i2, %i3
// CHECK:         te.compute_at "squares" at %[[C]] [3]
// CHECK:         te.compute_at "sum" at %[[C]] [3]
// CHECK:         te.pragma %sum_rf_rf4_at "loop_partition_hint" = 1
// CHECK:         te.fuse %[[N]], %[[C]]
