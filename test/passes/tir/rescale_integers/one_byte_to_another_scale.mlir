// RUN: opt-tool %s -p tir-rescale-integers | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-rescale-integers
// A byte's zero point is taken off as an integer; one factor takes it to the other scale.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @unsigned
  // CHECK:      %[[E:.*]] = arith.extui
  // CHECK:      %[[C:.*]] = arith.constant -100 : i32
  // CHECK-NEXT: %[[S:.*]] = arith.addi %[[E]], %[[C]]
  // CHECK:      %[[F:.*]] = arith.sitofp %[[S]]
  // CHECK:      %[[P:.*]] = arith.mulf %[[F]]
  // CHECK-NEXT: math.roundeven %[[P]]
  tir.func @unsigned(%x: memref<1xui8>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xui8>
    %e = arith.extui %a : i8 to i32
    %p = arith.constant 100 : i32
    %m = arith.subi %e, %p : i32
    %af = arith.sitofp %m : i32 to f32
    %t = arith.constant 0.13 : f32
    %s = arith.mulf %af, %t : f32
    %u = arith.constant 0.37 : f32
    %q = arith.divf %s, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
}
