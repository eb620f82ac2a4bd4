// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s
// All stages stand in the loop over blocks of 16 rows of a head; the keys are transposed once for a head.
// The result and its scores are vectors of columns; four steps of either sum stand in one body.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%q: tensor<1x64x128xf32>, %k: tensor<1x48x128xf32>, %v: tensor<1x48x128xf32>, %s: tensor<f32>,
                  %b: tensor<1x1x1x48xf32>) -> tensor<1x64x128xf32> {
    %y = relay.nn.contrib_attention %q, %k, %v, %s, %b {heads = 2} : (tensor<1x64x128xf32>, tensor<1x48x128xf32>,
        tensor<1x48x128xf32>, tensor<f32>, tensor<1x1x1x48xf32>) -> tensor<1x64x128xf32>
    return %y : tensor<1x64x128xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_attention {
// CHECK:         %[[B:.*]], %[[I:.*]], %[[C:.*]] = te.loops "attention" [3]
// CHECK-NEXT:    %[[H:.*]], %{{.*}} = te.split %[[C]] [2, 64]
// CHECK-NEXT:    %[[BLOCK:.*]], %{{.*}} = te.split %[[I]] [-1, 16]
// CHECK:         %[[LANES:[a-z0-9_]+]] = te.split %{{.*}} [-1, 4, 16]
// CHECK:         te.vectorize %[[LANES]]{{$}}
// CHECK:         te.compute_at "attention_mixed" at %{{.*}} [5]
// CHECK:         %{{.*}}, %[[VALUE:[a-z0-9_]+]] = te.split %{{.*}} [-1, 4]{{$}}
// CHECK-NEXT:    te.unroll %[[VALUE]]{{$}}
// CHECK:         te.compute_at "attention_sum" at %[[BLOCK]] [4]
// CHECK:         te.compute_at "attention_exp" at %[[BLOCK]] [4]
// CHECK:         te.compute_at "attention_logits" at %[[BLOCK]] [4]
// CHECK:         %[[KEYS:[a-z0-9_]+]] = te.split %{{.*}} [-1, 3, 16]
// CHECK:         te.vectorize %[[KEYS]]{{$}}
// CHECK:         te.compute_at "attention_scores" at %{{.*}} [5]
// CHECK:         %{{.*}}, %[[PLACE:[a-z0-9_]+]] = te.split %{{.*}} [-1, 4]{{$}}
// CHECK-NEXT:    te.unroll %[[PLACE]]{{$}}
// CHECK:         te.compute_at "attention_keys" at %[[H]] [4]
// CHECK:         te.fuse %[[B]], %[[H]]
