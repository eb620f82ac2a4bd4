// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// The shortest decimal that is the same number; what is none by its bits.

// CHECK:      y[0] = 0.1f;
// CHECK-NEXT: y[1] = (-3.4028235e+38f);
// CHECK-NEXT: y[2] = lamina_f32_bits_i32(2139095040);
// CHECK-NEXT: y[3] = lamina_f32_bits_i32(2143289344);
// CHECK-NEXT: y[4] = 1e-45f;
// CHECK-NEXT: z[0] = 0.1;
// CHECK-NEXT: z[1] = lamina_f64_bits_i64((-4503599627370496LL));
tir.func @f(%y: memref<5xf32>, %z: memref<2xf64>) attributes {outputs = 2 : i64} {
  %a = arith.constant 0.1 : f32
  %b = arith.constant -3.4028234e38 : f32
  %c = arith.constant 0x7f800000 : f32
  %d = arith.constant 0x7fc00000 : f32
  %e = arith.constant 1.4e-45 : f32
  %f = arith.constant 0.1 : f64
  %g = arith.constant 0xfff0000000000000 : f64
  tir.store %a, %y[0] : memref<5xf32>
  tir.store %b, %y[1] : memref<5xf32>
  tir.store %c, %y[2] : memref<5xf32>
  tir.store %d, %y[3] : memref<5xf32>
  tir.store %e, %y[4] : memref<5xf32>
  tir.store %f, %z[0] : memref<2xf64>
  tir.store %g, %z[1] : memref<2xf64>
}
