// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// Equal messages have one code, in all kernels of a module.

// CHECK-LABEL: static int32_t f(
// CHECK:      if (!c) return 1;
// CHECK-NEXT: const int32_t q = lamina_div_i32(a, b);
// CHECK-NEXT: y[0] = q;
// CHECK-NEXT: return 0;
tir.func @f(%x: memref<2xi32>, %y: memref<1xi32>) {
  %a = tir.load %x[0] : memref<2xi32>
  %b = tir.load %x[1] : memref<2xi32>
  %zero = arith.constant 0 : i32
  %c = arith.cmpi ne, %b, %zero : i32
  %d = tir.check %b, %c "integer division by zero" : i32
  %q = arith.divsi %a, %d : i32
  tir.store %q, %y[0] : memref<1xi32>
}

// CHECK-LABEL: static int32_t g(
// CHECK:      if (!c) return 2;
// CHECK-NEXT: if (!c) return 1;
tir.func @g(%x: memref<1xi32>, %y: memref<1xi32>) {
  %a = tir.load %x[0] : memref<1xi32>
  %zero = arith.constant 0 : i32
  %c = arith.cmpi ne, %a, %zero : i32
  %d = tir.check %a, %c "another" : i32
  %e = tir.check %d, %c "integer division by zero" : i32
  tir.store %e, %y[0] : memref<1xi32>
}
