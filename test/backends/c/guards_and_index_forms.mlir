// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// A guarded load is a choice, which reads nothing beyond; divisions of what may be negative round down. An index that
// data tells has 64 bits.

// CHECK:      typedef int64_t index_t;
// CHECK:      static inline int64_t lamina_floordiv(int64_t a, int64_t b) {
// CHECK-LABEL: static void f(
// CHECK-NEXT: for (index_t i = 0; i < 12; ++i) {
// CHECK-NEXT:   const float v = (i - 1 >= 0 && 8 - i >= 0) ? x[i - 1] : 0.0f;
// CHECK-NEXT:   const float w = x[(i / 4) * 2 + (i % 3)];
// CHECK-NEXT:   const int64_t n = k[i];
// CHECK-NEXT:   const index_t j = (index_t)n;
// CHECK-NEXT:   const _Bool c = i - 6 == 0;
// CHECK-NEXT:   const float u = x[lamina_floordiv((index_t)j, (index_t)4)];
// CHECK-NEXT:   const float s = v + w;
// CHECK-NEXT:   const float t = c ? s : u;
// CHECK-NEXT:   if (9 - i >= 0) y[i] = t;
tir.func @f(%x: memref<8xf32>, %k: memref<12xi64>, %y: memref<10xf32>) {
  tir.for %i = 0 to 12 "y.i" {
    %v = tir.load %x[%i - 1] where [%i - 1 >= 0, %i * -1 + 8 >= 0] : memref<8xf32>
    %w = tir.load %x[%i floordiv 4 * 2 + %i mod 3] : memref<8xf32>
    %n = tir.load %k[%i] : memref<12xi64>
    %j = arith.index_cast %n : i64 to index
    %c = tir.condition [%i - 6 == 0] : i1
    %u = tir.load %x[%j floordiv 4] : memref<8xf32>
    %s = arith.addf %v, %w : f32
    %t = arith.select %c, %s, %u : f32
    tir.store %t, %y[%i] where [%i * -1 + 9 >= 0] : memref<10xf32>
  }
}
