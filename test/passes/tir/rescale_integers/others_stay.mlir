// RUN: opt-tool %s -p tir-rescale-integers | filecheck %s
// No factors for: integers of which nothing is known, three of them, a square, floats that are no integers.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @unknown
  // CHECK:      arith.divf
  // CHECK-NEXT: math.roundeven
  tir.func @unknown(%x: memref<1xi32>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xi32>
    %af = arith.sitofp %a : i32 to f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %af, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
  // CHECK-LABEL: tir.func @three
  // CHECK:      arith.divf
  // CHECK-NEXT: math.roundeven
  tir.func @three(%x: memref<3xui8>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<3xui8>
    %b = tir.load %x[1] : memref<3xui8>
    %c = tir.load %x[2] : memref<3xui8>
    %af = arith.uitofp %a : i8 to f32
    %bf = arith.uitofp %b : i8 to f32
    %cf = arith.uitofp %c : i8 to f32
    %s = arith.addf %af, %bf : f32
    %t = arith.addf %s, %cf : f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %t, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
  // CHECK-LABEL: tir.func @square
  // CHECK:      arith.mulf
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: arith.divf
  tir.func @square(%x: memref<1xui8>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xui8>
    %af = arith.uitofp %a : i8 to f32
    %s = arith.mulf %af, %af : f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %s, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }
  // CHECK-LABEL: tir.func @float
  // CHECK:      arith.divf
  // CHECK-NEXT: math.roundeven
  tir.func @float(%x: memref<1xf32>, %z: memref<1xf32>) {
    %a = tir.load %x[0] : memref<1xf32>
    %u = arith.constant 3.7 : f32
    %q = arith.divf %a, %u : f32
    %r = math.roundeven %q : f32
    tir.store %r, %z[0] : memref<1xf32>
  }
}
