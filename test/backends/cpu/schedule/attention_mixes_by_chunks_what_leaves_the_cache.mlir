// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,cpu-schedule | filecheck %s
// A panel of 48 values takes 192 bytes for each key: 170 keys fit into the first-level cache, 171 are mixed 64 at a time.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%q: tensor<1x16x16xf32>, %s: tensor<f32>, %k: tensor<1x170x16xf32>, %v: tensor<1x170x48xf32>,
                  %l: tensor<1x171x16xf32>, %w: tensor<1x171x48xf32>) -> (tensor<1x16x48xf32>, tensor<1x16x48xf32>) {
    %y = relay.nn.contrib_attention %q, %k, %v, %s, %s {heads = 1} : (tensor<1x16x16xf32>, tensor<1x170x16xf32>,
        tensor<1x170x48xf32>, tensor<f32>, tensor<f32>) -> tensor<1x16x48xf32>
    %z = relay.nn.contrib_attention %q, %l, %w, %s, %s {heads = 1} : (tensor<1x16x16xf32>, tensor<1x171x16xf32>,
        tensor<1x171x48xf32>, tensor<f32>, tensor<f32>) -> tensor<1x16x48xf32>
    return %y, %z : tensor<1x16x48xf32>, tensor<1x16x48xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_attention {
// CHECK-NOT:     te.rfactor "attention_mixed"
// CHECK-LABEL: te.schedule @fused_nn_contrib_attention_1 {
// CHECK:         %{{.*}}, %{{.*}} = te.split %{{.*}} [-1, 64]
// CHECK-NEXT:    {{.*}} = te.rfactor "attention_mixed"
