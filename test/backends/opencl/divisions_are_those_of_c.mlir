// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// A divisor of zero or a quotient that there is not ends no device: the functions are those of C source.

// CHECK:      #define INT32_MIN INT_MIN
// CHECK:      typedef int int32_t;
// CHECK:      typedef uint uint32_t;
// CHECK:      static inline int32_t lamina_div_i32(int32_t a, int32_t b) {
// CHECK-NEXT:   return b == 0 ? 0 : b == -1 ?
// CHECK:      const int q = lamina_div_i32(v, w);
// CHECK-NEXT: const int s = (int)(q / 7);
// CHECK-NEXT: const int r = (s > INT32_MIN ? s : INT32_MIN);
tir.func @f(%x: memref<2xi32>, %y: memref<1xi32>) attributes {device, outputs = 1 : i64} {
  tir.for %t = 0 to 1 thread "threadIdx.x" "y.t" {
    %v = tir.load %x[0] : memref<2xi32>
    %w = tir.load %x[1] : memref<2xi32>
    %seven = arith.constant 7 : i32
    %least = arith.constant -2147483648 : i32
    %q = arith.divsi %v, %w : i32
    %s = arith.divsi %q, %seven : i32
    %r = arith.maxsi %s, %least : i32
    tir.store %r, %y[0] : memref<1xi32>
  }
}
