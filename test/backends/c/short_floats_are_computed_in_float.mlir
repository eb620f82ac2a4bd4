// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// They are held as their bits, and rounded after each op; from double they are rounded once. A choice moves bits.

// CHECK-DAG:  static inline float lamina_f32_of_f16(uint16_t x) {
// CHECK-DAG:  static inline uint16_t lamina_bf16_of_f32(float x) {
// CHECK-LABEL: static void f(const uint16_t *restrict x, const uint16_t *restrict y, const double *restrict d
// CHECK:      const uint16_t s = lamina_f16_of_f32((lamina_f32_of_f16(a) + lamina_f32_of_f16(a)));
// CHECK-NEXT: const float w = (float)lamina_f32_of_f16(s);
// CHECK-NEXT: const uint16_t t = lamina_bf16_of_f32((float)w);
// CHECK-NEXT: const _Bool c = lamina_f32_of_bf16(b) < lamina_f32_of_bf16(t);
// CHECK-NEXT: const uint16_t m = c ? b : t;
// CHECK-NEXT: const uint16_t n = lamina_bf16_of_f64(e);
// CHECK-NEXT: const int16_t i = (int16_t)n;
tir.func @f(%x: memref<1xf16>, %y: memref<1xbf16>, %d: memref<1xf64>, %z: memref<1xbf16>, %k: memref<1xi16>) attributes {outputs = 2 : i64} {
  %a = tir.load %x[0] : memref<1xf16>
  %b = tir.load %y[0] : memref<1xbf16>
  %e = tir.load %d[0] : memref<1xf64>
  %s = arith.addf %a, %a : f16
  %w = arith.extf %s : f16 to f32
  %t = arith.truncf %w : f32 to bf16
  %c = arith.cmpf olt, %b, %t : bf16
  %m = arith.select %c, %b, %t : bf16
  %n = arith.truncf %e : f64 to bf16
  %i = arith.bitcast %n : bf16 to i16
  tir.store %m, %z[0] : memref<1xbf16>
  tir.store %i, %k[0] : memref<1xi16>
}
