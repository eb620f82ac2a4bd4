// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// Of a float that an integer does not hold C says nothing: functions give the least one. One bit is -1 with a sign.

// CHECK:      static inline int32_t lamina_i32_of_f32(float x) {
// CHECK-NEXT:   return x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : INT32_MIN;
// CHECK:      static inline int8_t lamina_u8_of_f32(float x) {
// CHECK-LABEL: static void f(
// CHECK:      const int8_t i = lamina_i8_of_f32(a);
// CHECK-NEXT: const int8_t u = lamina_u8_of_f32(a);
// CHECK-NEXT: const int32_t e = (int32_t)(uint8_t)u;
// CHECK-NEXT: const float f = (float)(uint32_t)e;
// CHECK-NEXT: const _Bool c = a < a || a > a;
// CHECK-NEXT: const int8_t m = (int8_t)(c ? -1 : 0);
// CHECK-NEXT: const int32_t b = lamina_i32_bits_f32(f);
// CHECK-NEXT: const _Bool t = b & 1;
tir.func @f(%x: memref<1xf32>, %y: memref<3xi8>, %z: memref<1xi1>) attributes {outputs = 2 : i64} {
  %a = tir.load %x[0] : memref<1xf32>
  %i = arith.fptosi %a : f32 to i8
  %u = arith.fptoui %a : f32 to i8
  %e = arith.extui %u : i8 to i32
  %f = arith.uitofp %e : i32 to f32
  %c = arith.cmpf one, %a, %a : f32
  %m = arith.extsi %c : i1 to i8
  %b = arith.bitcast %f : f32 to i32
  %t = arith.trunci %b : i32 to i1
  tir.store %i, %y[0] : memref<3xi8>
  tir.store %u, %y[1] : memref<3xi8>
  tir.store %m, %y[2] : memref<3xi8>
  tir.store %t, %z[0] : memref<1xi1>
}

// CHECK-LABEL: static void bits(const uint8_t *restrict p, uint8_t *restrict q) {
// CHECK:      const _Bool a = p[0] & 1;
// CHECK-NEXT: const _Bool b = a ^ a;
// CHECK-NEXT: q[0] = b;
tir.func @bits(%p: memref<1xi1>, %q: memref<1xi1>) {
  %a = tir.load %p[0] : memref<1xi1>
  %b = arith.addi %a, %a : i1
  tir.store %b, %q[0] : memref<1xi1>
}
