// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// Of the 32 lines of the next row, each step of the sum fetches one, in four tiles, every second one from the other half;
// then they are fetched once more. One tile fetches all, of two or three each fetches a half. They go to the second-level
// cache: the row in use stays in the first.

tir.func @f(%n: index, %x: memref<4x512xf32>, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %r = 0 to 4 "y.r" attributes {prefetch = [{tensor = "x", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to min [%n] "y.i" {
      tir.for %k = 0 to 8 reduction "y.k" {
        tir.for %j = 0 to 64 reduction "y.j" {
          %a = tir.load %x[%r, %k * 64 + %j] : memref<4x512xf32>
          tir.store %a, %y[%i] : memref<?xf32>
        }
      }
    }
  }
}

// CHECK:      tir.for %k = 0 to 8 reduction "y.k" {
// CHECK-NEXT:   tir.for %l = 0 to 3 min [%n floordiv 2 * -2 + 3] "y.r.prefetch" {
// CHECK-NEXT:     tir.prefetch %x[%r + 1, (%i * 2 + %i floordiv 2 + %l + 1) mod 4 * 128 + %k * 16] locality 2
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.prefetch %x[%r + 1, (%i * 2 + %i floordiv 2) mod 4 * 128 + %k * 16] locality 2
