// RUN: opt-tool %s -p tir-form-teams --verify-locations | filecheck %s
// Each step needs all that the one before has computed. What one thread does, the sum at its end, is shared out as a
// loop of one iteration, behind a barrier of its own; the buffer that holds it is the kernel's.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "", vector_bits = 512, registers = 32, threads = 2>} {
  tir.func @f(%w: memref<64x512x512xf32>, %h: memref<65x512xf32>, %n: memref<64xf32>) attributes {outputs = 2 : i64} {
    tir.for %t = 0 to 64 "t" {
      %s = tir.alloc "s" scope "global" : memref<1xf32>
      tir.for %j = 0 to 512 parallel "j" {
        tir.for %k = 0 to 512 "k" {
          %a = tir.load %w[%t, %j, %k] : memref<64x512x512xf32>
          %b = tir.load %h[%t, %k] : memref<65x512xf32>
          %c = arith.mulf %a, %b : f32
          tir.store %c, %h[%t + 1, %j] : memref<65x512xf32>
        }
      }
      tir.for %k = 0 to 512 "sum" {
        %a = tir.load %h[%t + 1, %k] : memref<65x512xf32>
        tir.store %a, %s[0] : memref<1xf32>
      }
      %a = tir.load %s[0] : memref<1xf32>
      tir.store %a, %n[%t] : memref<64xf32>
    }
  }
}

// CHECK:      %s = tir.alloc "s" scope "global" : memref<1xf32>
// CHECK-NEXT: tir.team {
// CHECK-NEXT:   tir.for %t = 0 to 64 "t" {
// CHECK-NEXT:     tir.team_barrier
// CHECK-NEXT:     tir.for %j = 0 to 512 parallel "j" {
// CHECK:          tir.team_barrier
// CHECK-NEXT:     tir.for %alone = 0 to 1 parallel "alone" {
// CHECK-NEXT:       tir.for %k = 0 to 512 "sum" {
// CHECK:            %a = tir.load %s[0] : memref<1xf32>
// CHECK-NEXT:       tir.store %a, %n[%t] : memref<64xf32>
