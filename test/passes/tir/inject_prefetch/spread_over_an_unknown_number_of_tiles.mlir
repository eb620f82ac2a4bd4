// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// The 64 lines of the next row are eight streams of the eight steps of the sum. Of four tiles or more each fetches two
// streams, by turns, of three tiles three, of two tiles four, and one tile fetches all: what less than four tiles do is
// asked about once in each step. They go to the second-level cache: the row in use stays in the first. Of a row of 16 lines, which are two streams, each of several tiles fetches one.

tir.func @f(%n: index, %x: memref<4x1024xf32>, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %r = 0 to 4 "y.r" attributes {prefetch = [{tensor = "x", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to min [%n] "y.i" {
      tir.for %k = 0 to 8 reduction "y.k" {
        tir.for %j = 0 to 128 reduction "y.j" {
          %a = tir.load %x[%r, %k * 128 + %j] : memref<4x1024xf32>
          tir.store %a, %y[%i] : memref<?xf32>
        }
      }
    }
  }
}

tir.func @g(%n: index, %x: memref<4x256xf32>, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %r = 0 to 4 "y.r" attributes {prefetch = [{tensor = "x", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to min [%n] "y.i" {
      tir.for %k = 0 to 8 reduction "y.k" {
        tir.for %j = 0 to 32 reduction "y.j" {
          %a = tir.load %x[%r, %k * 32 + %j] : memref<4x256xf32>
          tir.store %a, %y[%i] : memref<?xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(
// CHECK:      tir.for %k = 0 to 8 reduction "y.k" {
// CHECK-NEXT:   tir.for %l = 0 to 2 unrolled "y.r.prefetch" {
// CHECK-NEXT:     tir.prefetch %x[%r + 1, %i mod 4 * 128 + %l * 512 + %k * 16] locality 2
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.if [%n * -1 + 3 >= 0] {
// CHECK-NEXT:     tir.for %l = 0 to 4 min [%n * -4 + 8] "y.r.prefetch" {
// CHECK-NEXT:       tir.prefetch %x[%r + 1, %l * 256 + %k * 16 + 128] locality 2
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %l = 0 to 2 min [%n * -2 + 6] "y.r.prefetch" {
// CHECK-NEXT:       tir.prefetch %x[%r + 1, %i * 128 + %l * 512 + %k * 16 + 256] locality 2
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %l = 0 to 1 min [%n - 2, %n * -1 + 4] "y.r.prefetch" {
// CHECK-NEXT:       tir.prefetch %x[%r + 1, %i * 512 + %l * 512 + %k * 16 + 384] locality 2
// CHECK-NEXT:     }
// CHECK-NEXT:   }

// CHECK-LABEL: tir.func @g(
// CHECK:      tir.for %k = 0 to 8 reduction "y.k" {
// CHECK-NEXT:   tir.for %l = 0 to 1 min [%n * -1 + 2] "y.r.prefetch" {
// CHECK-NEXT:     tir.prefetch %x[%r + 1, %l * 256 + %k * 16 + 128] locality 2
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.prefetch %x[%r + 1, %i mod 2 * 128 + %k * 16] locality 2
