// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// What is left of the tiles goes in loops of its own: these fetch the next row where there is no whole tile. A loop that
// looks at each element of a row once fetches nothing: the hardware follows what is read in order.

tir.func @f(%n: index, %x: memref<4x512xf32>, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %r = 0 to 4 "y.r" attributes {prefetch = [{tensor = "x", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to min [%n floordiv 4] "y.i" {
      tir.for %k = 0 to 16 reduction "y.k" {
        tir.for %j = 0 to 32 reduction "y.j" {
          %a = tir.load %x[%r, %k * 32 + %j] : memref<4x512xf32>
          tir.store %a, %y[%i] : memref<?xf32>
        }
      }
    }
    tir.for %i = 0 to 1 min [(%n floordiv 2) mod 2] "y.i.tail" {
      tir.for %k = 0 to 16 reduction "y.k.tail" {
        tir.for %h = 0 to 2 "y.h.tail" {
          tir.for %j = 0 to 32 reduction "y.j.tail" {
            %a = tir.load %x[%r, %k * 32 + %j] : memref<4x512xf32>
            tir.store %a, %y[%h] : memref<?xf32>
          }
        }
      }
    }
    tir.for %i = 0 to 1 min [%n mod 2] "y.i.tail.tail" {
      tir.for %k = 0 to 16 reduction "y.k.tail.tail" {
        tir.for %j = 0 to 32 reduction "y.j.tail.tail" {
          %a = tir.load %x[%r, %k * 32 + %j] : memref<4x512xf32>
          tir.store %a, %y[%i] : memref<?xf32>
        }
      }
    }
  }
}

// CHECK:      tir.for %k = 0 to 16 reduction "y.k" {
// CHECK-NEXT:   tir.for %l = 0 to 1 min [%n floordiv 4 * -1 + 2] "y.r.prefetch" {
// CHECK-NEXT:     tir.prefetch %x[%r + 1, %l * 512 + %k * 16 + 256] locality 2
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.prefetch %x[%r + 1, %i mod 2 * 256 + %k * 16] locality 2
// CHECK:      tir.for %k = 0 to 16 reduction "y.k.tail" {
// CHECK-NEXT:   tir.for %l = 0 to 2 min [%n floordiv 4 * -2 + 2] "y.r.prefetch{{.*}}" {
// CHECK-NEXT:     tir.prefetch %x[%r + 1, %l * 256 + %k * 16] locality 2
// CHECK:      tir.for %k = 0 to 16 reduction "y.k.tail.tail" {
// CHECK-NEXT:   tir.for %j
