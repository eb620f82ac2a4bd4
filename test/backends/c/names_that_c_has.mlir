// RUN: python -m lamina.backends.c.translate %s | filecheck %s

// CHECK:      static void sinf_1(const float *restrict float_1, float *restrict y) {
// CHECK:      const float work_1 = float_1[0];
// CHECK-NEXT: const float v = sinf(work_1);
tir.func @sinf(%float: memref<1xf32>, %y: memref<1xf32>) {
  %work = tir.load %float[0] : memref<1xf32>
  %0 = math.sin %work : f32
  tir.store %0, %y[0] : memref<1xf32>
}
