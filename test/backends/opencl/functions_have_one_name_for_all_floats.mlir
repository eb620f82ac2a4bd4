// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s

// CHECK-NOT:  #define
// CHECK:      const float e = exp(v);
// CHECK-NEXT: const double s = sin(d);
// CHECK-NEXT: const float p = pow(v, e);
// CHECK-NEXT: const float f_1 = fma(v, e, p);
// CHECK-NEXT: const float r = (1.0f / sqrt(f_1));
// CHECK-NEXT: const float m = lamina_maximum_f32(r, INFINITY_1);
tir.func @f(%x: memref<1xf32>, %z: memref<1xf64>, %y: memref<1xf32>, %Z: memref<1xf64>) attributes {device, outputs = 2 : i64} {
  tir.for %t = 0 to 1 thread "threadIdx.x" "y.t" {
    %v = tir.load %x[0] : memref<1xf32>
    %INFINITY = tir.load %x[0] : memref<1xf32>
    %d = tir.load %z[0] : memref<1xf64>
    %e = math.exp %v : f32
    %s = math.sin %d : f64
    %p = math.powf %v, %e : f32
    %f = math.fma %v, %e, %p : f32
    %r = math.rsqrt %f : f32
    %m = arith.maximumf %r, %INFINITY : f32
    tir.store %m, %y[0] : memref<1xf32>
    tir.store %s, %Z[0] : memref<1xf64>
  }
}
