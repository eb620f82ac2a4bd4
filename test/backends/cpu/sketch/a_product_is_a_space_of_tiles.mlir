// RUN: opt-tool %s -p cpu-sketch | filecheck %s
// RUN: opt-tool %s -p cpu-sketch,te-draw-decisions,te-to-tir -o %t.a
// RUN: opt-tool %s -p cpu-schedule,te-to-tir -o %t.b
// RUN: diff %t.a %t.b
// As it stands the space is the schedule that the product has by default.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
te.func @f(%A: tensor<30x24xf32>, %B: tensor<24x50xf32>) -> tensor<30x50xf32> {
  %c = te.compute "C" [30, 50] sum [24] (%i, %j, %k) : tensor<30x50xf32> {
    %a = te.read %A[%i, %k] : tensor<30x24xf32>
    %b = te.read %B[%k, %j] : tensor<24x50xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<30x50xf32>
}
}
// CHECK:      te.sample_categorical [1, 2, 3, 4, 6, 8] knob "C_0_vectors" decision 1
// CHECK-NEXT: %jo, %ja, %jb = te.split %j [-1, %v, 8]
// CHECK:      te.sample_categorical {{.*}} knob "C_0_rows" decision 5
// CHECK:      te.sample_categorical [1, 2, 4, 8, 16] knob "C_0_steps" decision 0
// CHECK:      te.sample_order %io, %jo knob "C_0_order" decision [0, 1]
// CHECK:      te.sample_annotation %ki ["none", "unroll"] knob "C_0_unrolled" decision 1
// CHECK:      te.choose knob "C_0_partition0" decision 1 {
// CHECK-NEXT:   te.partition %o0
// CHECK:      te.choose knob "C_0_partition1" decision 0 {
// CHECK-NEXT:   te.partition %o1
