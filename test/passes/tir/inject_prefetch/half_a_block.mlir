// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// An iteration reads half of a block of 32 columns. The loop of one iteration within does not hide which: what is
// fetched are the lines of that half, no whole tensor.

tir.func @f(%W: memref<4x8x32xf32>, %y: memref<8x8x16xf32>) attributes {outputs = 1 : i64} {
  tir.for %p = 0 to 8 "y.p.0" attributes {prefetch = [{tensor = "W", offset = 1 : i64}]} {
    tir.for %q = 0 to 1 "y.p.1" {
      tir.for %k = 0 to 8 "y.k" {
        tir.for %j = 0 to 16 "y.j" {
          %w = tir.load %W[(%p + %q) floordiv 2, %k, (%p + %q) mod 2 * 16 + %j] : memref<4x8x32xf32>
          tir.store %w, %y[%p + %q, %k, %j] : memref<8x8x16xf32>
        }
      }
    }
  }
}

// CHECK:       tir.for %p = 0 to 8 "y.p.0" {
// CHECK-NEXT:    tir.for %l = 0 to 8 "y.p.0.prefetch.1" {
// CHECK-NEXT:      tir.prefetch %W[(%p + 1) floordiv 2, %l, (%p + 1) mod 2 * 16] locality 3 : memref<4x8x32xf32>
// CHECK-NEXT:    }
