// RUN: opt-tool %s -p tir-form-teams | filecheck %s
// Eight additions are done before another thread has seen that there is something to do.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "", vector_bits = 512, registers = 32, threads = 2>} {
  tir.func @f(%h: memref<65x8xf32>) attributes {outputs = 1 : i64} {
    tir.for %t = 0 to 64 "t" {
      tir.for %j = 0 to 8 parallel "j" {
        %b = tir.load %h[%t, %j * -1 + 7] : memref<65x8xf32>
        %c = arith.addf %b, %b : f32
        tir.store %c, %h[%t + 1, %j] : memref<65x8xf32>
      }
    }
  }
}

// CHECK-NOT: tir.team
// CHECK:     "j"
