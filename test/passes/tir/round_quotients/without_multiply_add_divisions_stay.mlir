// RUN: opt-tool %s -p tir-round-quotients --split-input-file | filecheck %s
// SSE has no multiply-add that rounds once, and of a machine without a name nobody knows: a call of a library for each
// number would take longer than the division.

// CHECK-LABEL: cpu = "x86-64-v2"
// CHECK-NOT:   math.fma
// CHECK:       arith.divf %af, %u : f32
// CHECK-NEXT:  math.roundeven
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v2", features = "+sse4.2", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<1xi8>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xi8>
    %af = arith.uitofp %a : i8 to f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %af, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
}
// -----
// CHECK:       tir.func @nameless
// CHECK-NOT:   math.fma
// CHECK:       arith.divf %af, %u : f32
// CHECK-NEXT:  math.roundeven
tir.func @nameless(%x: memref<1xi8>, %z: memref<1xi32>) {
  %a = tir.load %x[0] : memref<1xi8>
  %af = arith.uitofp %a : i8 to f32
  %u = arith.constant 3.7 : f32
  %q = arith.divf %af, %u : f32
  %r = math.roundeven %q : f32
  %i = arith.fptosi %r : f32 to i32
  tir.store %i, %z[0] : memref<1xi32>
}
