// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// Panel p + 1 while panel p is read for each of six rows: 128 steps of two lines each, in 6 * 32 iterations. Where there
// are more lines than iterations, some to each, which belong to streams of their own; where the loop that is named is
// gone, all of them at once. What is one piece of memory is counted along the last dimension, beyond its end; what is not,
// dimension by dimension.

tir.func @f(%W: memref<4x128x32xf32>, %x: memref<6x128xf32>, %y: memref<6x128xf32>) attributes {outputs = 1 : i64} {
  tir.for %p = 0 to 4 parallel "y.p" attributes {prefetch = [{tensor = "W", offset = 1 : i64, spread = "y.k.0", locality = 2 : i64}]} {
    tir.for %i = 0 to 6 "y.i" {
      tir.for %ko = 0 to 32 reduction "y.k.0" {
        tir.for %ki = 0 to 4 unrolled reduction "y.k.1" {
          tir.for %j = 0 to 32 "y.j" {
            %w = tir.load %W[%p, %ko * 4 + %ki, %j] : memref<4x128x32xf32>
            %a = tir.load %x[%i, %ko * 4 + %ki] : memref<6x128xf32>
            %m = arith.mulf %w, %a : f32
            %s = tir.load %y[%i, %p * 32 + %j] : memref<6x128xf32>
            %n = arith.addf %s, %m : f32
            tir.store %n, %y[%i, %p * 32 + %j] : memref<6x128xf32>
          }
        }
      }
    }
  }
}

tir.func @g(%A: memref<8x64xf32>, %y: memref<8x64xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "z.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64, spread = "z.j.0"}]} {
    tir.for %jo = 0 to 2 "z.j.0" {
      tir.for %ji = 0 to 32 "z.j.1" {
        %a = tir.load %A[%i, %jo * 32 + %ji] : memref<8x64xf32>
        tir.store %a, %y[%i, %jo * 32 + %ji] : memref<8x64xf32>
      }
    }
  }
  tir.for %i = 0 to 8 "u.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64, spread = "u.j"}]} {
    tir.for %jo = 0 to 2 "u.j.0" {
      tir.for %ji = 0 to 32 "u.j.1" {
        %a = tir.load %A[%i, %jo * 32 + %ji] : memref<8x64xf32>
        tir.store %a, %y[%i, %jo * 32 + %ji] : memref<8x64xf32>
      }
    }
  }
}

tir.func @h(%W: memref<4x96x16xf32>, %y: memref<8x96x16xf32>) attributes {outputs = 1 : i64} {
  tir.for %p = 0 to 4 "y.p" attributes {prefetch = [{tensor = "W", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to 8 "y.i" {
      tir.for %k = 0 to 96 "y.k" {
        tir.for %j = 0 to 16 "y.j" {
          %w = tir.load %W[%p, %k, %j] : memref<4x96x16xf32>
          tir.store %w, %y[%i, %k, %j] : memref<8x96x16xf32>
        }
      }
    }
  }
}

tir.func @k(%W: memref<4x96x64xf32>, %y: memref<8x96x32xf32>) attributes {outputs = 1 : i64} {
  tir.for %p = 0 to 4 "y.p" attributes {prefetch = [{tensor = "W", offset = 1 : i64, spread = "y.k"}]} {
    tir.for %i = 0 to 2 "y.i" {
      tir.for %k = 0 to 96 "y.k" {
        tir.for %j = 0 to 32 "y.j" {
          %w = tir.load %W[%p, %k, %j] : memref<4x96x64xf32>
          tir.store %w, %y[%i, %k, %j] : memref<8x96x32xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(
// CHECK:         tir.for %p = 0 to 4 parallel "y.p" {
// CHECK-NEXT:      tir.for %i = 0 to 6 "y.i" {
// CHECK-NEXT:        tir.for %ko = 0 to 32 reduction "y.k.0" {
// CHECK-NEXT:          tir.for %l = 0 to 2 unrolled "y.p.prefetch" {
// CHECK-NEXT:            tir.prefetch %W[%p + 1, 0, %ko * 16 + %i * 512 + %l * 3072] locality 2 : memref<4x128x32xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:          tir.for %ki = 0 to 4

// CHECK-LABEL: tir.func @g(
// CHECK:         tir.for %jo = 0 to 2 "z.j.0" {
// CHECK-NEXT:      tir.for %l = 0 to 2 unrolled "z.i.prefetch" {
// CHECK-NEXT:        tir.prefetch %A[%i + 1, %jo * 16 + %l * 32] locality 3 : memref<8x64xf32>
// CHECK:         tir.for %i = 0 to 8 "u.i" {
// CHECK-NEXT:      tir.for %l = 0 to 4 "u.i.prefetch.1" {
// CHECK-NEXT:        tir.prefetch %A[%i + 1, %l * 16] locality 3 : memref<8x64xf32>

// Eight iterations have the same line.
// CHECK-LABEL: tir.func @h(
// CHECK:         tir.for %k = 0 to 96 "y.k" {
// CHECK-NEXT:      tir.prefetch %W[%p + 1, 0, %i * 192 + %k floordiv 8 * 16] locality 3 : memref<4x96x16xf32>

// CHECK-LABEL: tir.func @k(
// CHECK:         tir.for %k = 0 to 96 "y.k" {
// CHECK-NEXT:      tir.prefetch %W[%p + 1, %i * 48 + %k floordiv 2, %k mod 2 * 16] locality 3 : memref<4x96x64xf32>
