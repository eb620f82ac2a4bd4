// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// Small buffers are arrays; large ones parts of the caller's memory, which those of another block take after them. What
// nobody reads is not there. An argument that shares its memory with another is no restricted pointer.

// CHECK:      static void f(const float *restrict x, float *y, unsigned char *restrict work) {
// CHECK-NEXT:   for (index_t i = 0; i < 2; ++i) {
// CHECK-NEXT:     _Alignas(64) float small[8];
// CHECK-NEXT:     float *restrict const large = (float *)(void *)(work + 0);
// CHECK-NEXT:     int8_t *restrict const next = (int8_t *)(void *)(work + 4032);
// CHECK-NEXT:     const float v = x[i];
// CHECK-NEXT:     const int8_t b = lamina_i8_of_f32(v);
// CHECK-NEXT:     small[0] = v;
// CHECK-NOT:      {{dead|nobody}}
// CHECK:        }
// CHECK-NEXT:   {{.*}}for (index_t i_1 = 0; i_1 < 2; ++i_1) {
// CHECK-NEXT:     float *restrict const large_1 = (float *)(void *)(work + 0);
tir.func @f(%x: memref<2xf32>, %unused: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64, shared = array<i64: 2>} {
  tir.for %i = 0 to 2 "y.i" {
    %small = tir.alloc "small" scope "register" : memref<8xf32>
    %large = tir.alloc "large" scope "global" : memref<1000xf32>
    %next = tir.alloc "next" scope "global" : memref<4096xi8>
    %dead = tir.alloc "dead" scope "register" : memref<8xf32>
    %v = tir.load %x[%i] : memref<2xf32>
    %w = arith.negf %v : f32
    %nobody = arith.extf %v : f32 to f64
    %b = arith.fptosi %v : f32 to i8
    tir.store %v, %small[0] : memref<8xf32>
    tir.store %v, %large[%i] : memref<1000xf32>
    tir.store %b, %next[%i] : memref<4096xi8>
    tir.store %w, %dead[0] : memref<8xf32>
    %s = tir.load %small[0] : memref<8xf32>
    %l = tir.load %large[%i] : memref<1000xf32>
    %n = tir.load %next[%i] : memref<4096xi8>
    %f = arith.sitofp %n : i8 to f32
    %t = arith.addf %s, %l : f32
    %r = arith.addf %t, %f : f32
    tir.store %r, %y[%i] : memref<2xf32>
  }
  tir.for %i = 0 to 2 "z.i" {
    %large = tir.alloc "large" scope "global" : memref<1000xf32>
    %v = tir.load %x[%i] : memref<2xf32>
    tir.store %v, %large[%i] : memref<1000xf32>
    %l = tir.load %large[%i] : memref<1000xf32>
    tir.store %l, %y[%i] : memref<2xf32>
  }
}
