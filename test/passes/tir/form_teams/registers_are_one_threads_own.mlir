// RUN: opt-tool %s -p tir-form-teams | filecheck %s
// RUN: sed 's/scope "register"/scope "global"/' %s | opt-tool -p tir-form-teams | filecheck %s --check-prefix=MEMORY
// What lies in registers no other thread sees; a buffer in memory is all threads' own, where its size is known before.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "", vector_bits = 512, registers = 32, threads = 2>} {
  tir.func @registers(%w: memref<64x512x512xf32>, %h: memref<65x512xf32>) attributes {outputs = 1 : i64} {
    tir.for %t = 0 to 64 "t" {
      %s = tir.alloc "s" scope "register" : memref<512xf32>
      tir.for %j = 0 to 512 parallel "j" {
        tir.for %k = 0 to 512 "k" {
          %a = tir.load %w[%t, %j, %k] : memref<64x512x512xf32>
          %b = tir.load %h[%t, %k] : memref<65x512xf32>
          %c = arith.mulf %a, %b : f32
          tir.store %c, %s[%j] : memref<512xf32>
        }
        %d = tir.load %s[%j] : memref<512xf32>
        tir.store %d, %h[%t + 1, %j] : memref<65x512xf32>
      }
    }
  }

  tir.func @sizes(%w: memref<64x512x512xf32>, %h: memref<65x512xf32>) attributes {outputs = 1 : i64} {
    tir.for %t = 0 to 64 "t" {
      %s = tir.alloc "s" scope "global" [%t + 512] : memref<?xf32>
      tir.for %j = 0 to 512 parallel "j" {
        tir.for %k = 0 to 512 "k" {
          %a = tir.load %w[%t, %j, %k] : memref<64x512x512xf32>
          %b = tir.load %h[%t, %k] : memref<65x512xf32>
          %c = arith.mulf %a, %b : f32
          tir.store %c, %s[%j] : memref<?xf32>
        }
        %d = tir.load %s[%j] : memref<?xf32>
        tir.store %d, %h[%t + 1, %j] : memref<65x512xf32>
      }
    }
  }
}

// CHECK-NOT:  tir.team
// MEMORY-LABEL: tir.func @registers
// MEMORY:         %s = tir.alloc "s" scope "global" : memref<512xf32>
// MEMORY-NEXT:    tir.team {
// MEMORY-LABEL: tir.func @sizes
// MEMORY-NOT:     tir.team
