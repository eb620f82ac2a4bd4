// RUN: opt-tool %s -p cpu-sketch,print-space 2>&1 >/dev/null | filecheck %s
// RUN: opt-tool %s -p "cpu-sketch,te-draw-decisions{seed=3},te-to-tir" | filecheck %s --check-prefix DRAWN

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
te.func @f(%A: tensor<6x30x24xf32>, %B: tensor<6x24x48xf32>) -> tensor<6x30x48xf32> {
  %c = te.compute "C" [6, 30, 48] sum [24] (%b, %i, %j, %k) : tensor<6x30x48xf32> {
    %x = te.read %A[%b, %i, %k] : tensor<6x30x24xf32>
    %y = te.read %B[%b, %k, %j] : tensor<6x24x48xf32>
    %p = arith.mulf %x, %y : f32
    te.yield %p : f32
  }
  te.return %c : tensor<6x30x48xf32>
}
}
// CHECK:      @f: 14400 configurations
// CHECK-NEXT:   C_rows          te.choose               2  0
// CHECK-NEXT:   C_1_vectors     te.sample_categorical   6  1

// DRAWN:      tir.for %b = 0 to 6 parallel "C.b" {
// DRAWN-NEXT:   tir.for %j0 = 0 to 1 "C.j.0" {
// DRAWN-NEXT:     tir.for %io = 0 to 2 "C.i.0" {
