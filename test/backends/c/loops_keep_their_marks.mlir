// RUN: python -m lamina.backends.c.translate %s | filecheck %s
// Loops stay loops: lanes and unrolled ones carry a hint, parallel ones none; a loop to the least of two ends has one.

// CHECK:      static void f(const float *restrict x, float *restrict y) {
// CHECK-NEXT:   for (index_t i = 0; i < 4; ++i) {
// CHECK-NEXT:     const index_t j_end = (index_t)lamina_min(3, (10 - i * 3));
// CHECK-NEXT:     LAMINA_UNROLLED(3)
// CHECK-NEXT:     for (index_t j = 0; j < j_end; ++j) {
// CHECK-NEXT:       LAMINA_LANES
// CHECK-NEXT:       for (index_t k = 0; k < 8; ++k) {
// CHECK-NEXT:         const float v = x[i * 24 + j * 8 + k];
// CHECK-NEXT:         const float s = v + 0.1f;
// CHECK-NEXT:         y[i * 24 + j * 8 + k] = s;
tir.func @f(%x: memref<10x8xf32>, %y: memref<10x8xf32>) {
  tir.for %i = 0 to 4 parallel "y.i" {
    tir.for %j = 0 to 3 min [%i * -3 + 10] unrolled "y.j" {
      tir.for %k = 0 to 8 vectorized "y.k" {
        %v = tir.load %x[%i * 3 + %j, %k] : memref<10x8xf32>
        %tenth = arith.constant 0.1 : f32
        %s = arith.addf %v, %tenth : f32
        tir.store %s, %y[%i * 3 + %j, %k] : memref<10x8xf32>
      }
    }
  }
}
