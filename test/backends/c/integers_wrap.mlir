// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// Signed overflow is undefined in C: sums are of unsigned numbers. Short ones become int first, whose products overflow.

// CHECK-LABEL: static void f(
// CHECK:      const int16_t s = (int16_t)((uint32_t)a + (uint32_t)b);
// CHECK-NEXT: const int16_t p = (int16_t)((uint32_t)s * (uint32_t)b);
// CHECK-NEXT: z[0] = p;
tir.func @f(%x: memref<1xi16>, %y: memref<1xi16>, %z: memref<1xi16>) {
  %a = tir.load %x[0] : memref<1xi16>
  %b = tir.load %y[0] : memref<1xi16>
  %s = arith.addi %a, %b : i16
  %p = arith.muli %s, %b : i16
  tir.store %p, %z[0] : memref<1xi16>
}

// CHECK-LABEL: static void wide(
// CHECK:      const int64_t d = (int64_t)((uint64_t)a - (uint64_t)5LL);
// CHECK-NEXT: const int64_t m = a < 0 ? (int64_t)((uint64_t)0 - (uint64_t)a) : a;
// CHECK-NEXT: const int64_t l = d > m ? d : m;
// CHECK-NEXT: const int64_t u = (uint64_t)l < (uint64_t)INT64_MIN ? l : INT64_MIN;
tir.func @wide(%x: memref<1xi64>, %z: memref<1xi64>) {
  %a = tir.load %x[0] : memref<1xi64>
  %c = arith.constant 5 : i64
  %d = arith.subi %a, %c : i64
  %m = math.absi %a : i64
  %l = arith.maxsi %d, %m : i64
  %least = arith.constant -9223372036854775808 : i64
  %u = arith.minui %l, %least : i64
  tir.store %u, %z[0] : memref<1xi64>
}
