// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// By a number that is known they are C's own; by others functions that have a result for every operand.

// CHECK:      static inline int32_t lamina_div_i32(int32_t a, int32_t b) {
// CHECK-NEXT:   return b == 0 ? 0 : b == -1 ? (int32_t)((uint32_t)0 - (uint32_t)a) : (int32_t)(a / b);
// CHECK:      static inline int32_t lamina_rem_i32(int32_t a, int32_t b) {
// CHECK:      static inline int32_t lamina_floordiv_i32(int32_t a, int32_t b) {
// CHECK-NEXT:   const int32_t q = lamina_div_i32(a, b), r = lamina_rem_i32(a, b);
// CHECK-NOT:  lamina_rem_i64
// CHECK-LABEL: static void f(
// CHECK:      const int32_t q = lamina_div_i32(a, b);
// CHECK-NEXT: const int32_t r = (int32_t)(q % 7);
// CHECK-NEXT: const int32_t f = lamina_floordiv_i32(r, b);
// CHECK-NEXT: const int32_t u = (int32_t)((uint32_t)f / 3);
// CHECK-NEXT: const int32_t n = lamina_div_i32(u, (-1));
// CHECK-NEXT: const int32_t s = (int32_t)((uint32_t)n << 31);
// CHECK-NEXT: const int32_t t = lamina_shr_i32(s, b);
// CHECK-NEXT: const int32_t o = lamina_ushr_i32(t, 32);
tir.func @f(%x: memref<1xi32>, %y: memref<1xi32>, %z: memref<1xi32>) {
  %a = tir.load %x[0] : memref<1xi32>
  %b = tir.load %y[0] : memref<1xi32>
  %seven = arith.constant 7 : i32
  %three = arith.constant 3 : i32
  %minus = arith.constant -1 : i32
  %top = arith.constant 31 : i32
  %beyond = arith.constant 32 : i32
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %q, %seven : i32
  %f = arith.floordivsi %r, %b : i32
  %u = arith.divui %f, %three : i32
  %n = arith.divsi %u, %minus : i32
  %s = arith.shli %n, %top : i32
  %t = arith.shrsi %s, %b : i32
  %o = arith.shrui %t, %beyond : i32
  tir.store %o, %z[0] : memref<1xi32>
}
