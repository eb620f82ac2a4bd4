// RUN: opt-tool %s -p tir-form-teams | filecheck %s
// Iteration i of the second loop reads what iteration i of the first has written: the same thread runs both.
// The next step writes where this one has read, again each thread its own: no barrier at all.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "", vector_bits = 512, registers = 32, threads = 2>} {
  tir.func @f(%x: memref<64x8x1024xf32>, %y: memref<8x1024xf32>, %z: memref<8x1024xf32>) attributes {outputs = 2 : i64} {
    tir.for %t = 0 to 64 "t" {
      tir.for %i = 0 to 8 parallel "y.i" {
        tir.for %l = 0 to 1024 "y.l" {
          %v = tir.load %x[%t, %i, %l] : memref<64x8x1024xf32>
          %e = math.exp %v : f32
          tir.store %e, %y[%i, %l] : memref<8x1024xf32>
        }
      }
      tir.for %i = 0 to 8 parallel "z.i" {
        tir.for %l = 0 to 1024 "z.l" {
          %v = tir.load %y[%i, %l * -1 + 1023] : memref<8x1024xf32>
          %e = math.exp %v : f32
          tir.store %e, %z[%i, %l] : memref<8x1024xf32>
        }
      }
    }
  }
}

// CHECK:     tir.team {
// CHECK-NOT: tir.team_barrier
// CHECK:     "z.i"
// CHECK-NOT: tir.team_barrier
