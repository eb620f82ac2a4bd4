// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// float64 takes an extension, which is switched on where it is used; floats of 16 bits are held as ushort and computed in
// float; a bit takes a byte of memory.

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
// CHECK:      lamina_f32_of_f16(uint16_t x) {
// CHECK-NEXT:   return vload_half(0, (const half*)&x);
// CHECK:      __global const double* restrict d, __global const ushort* restrict h, __global const uchar* restrict p, __global const long* restrict l
// CHECK:      const bool bit = (p[t] & 1);
// CHECK:      const long big = l[t];
// CHECK:      const double twice = (wide + wide);
// CHECK:      const ushort both = lamina_f16_of_f32((lamina_f32_of_f16(half_1) + lamina_f32_of_f16(half_1)));
// CHECK:      const long sum = (long)((ulong)big + (ulong)5L);
tir.func @f(%d: memref<8xf64>, %h: memref<8xf16>, %p: memref<8xi1>, %l: memref<8xi64>, %D: memref<8xf64>, %H: memref<8xf16>, %P: memref<8xi1>, %L: memref<8xi64>) attributes {device, outputs = 4 : i64} {
  tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
    %wide = tir.load %d[%t] : memref<8xf64>
    %half = tir.load %h[%t] : memref<8xf16>
    %bit = tir.load %p[%t] : memref<8xi1>
    %big = tir.load %l[%t] : memref<8xi64>
    %five = arith.constant 5 : i64
    %twice = arith.addf %wide, %wide : f64
    %both = arith.addf %half, %half : f16
    %sum = arith.addi %big, %five : i64
    tir.store %twice, %D[%t] : memref<8xf64>
    tir.store %both, %H[%t] : memref<8xf16>
    tir.store %bit, %P[%t] : memref<8xi1>
    tir.store %sum, %L[%t] : memref<8xi64>
  }
}
