// RUN: opt-tool %s -p tir-round-quotients | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-round-quotients

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // One number by itself: no vector, and so no instruction for its conversion.
  // CHECK-LABEL: tir.func @one
  // CHECK-NOT:  divf
  // CHECK:      math.fma
  // CHECK-NEXT: math.fma
  // CHECK-NEXT: math.roundeven
  tir.func @one(%x: memref<1xi32>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xi32>
    %af = arith.sitofp %a : i32 to f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %af, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
}
