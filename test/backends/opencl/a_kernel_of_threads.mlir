// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// A loop of threads is the number of a work-item or of its group; sizes are long, buffers global, what is only read is
// constant. The threads of a block that are known are said.

// CHECK:      #pragma OPENCL FP_CONTRACT OFF
// CHECK-NOT:  cl_khr
// CHECK:      typedef long index_t;
// CHECK:      __kernel __attribute__((reqd_work_group_size(32, 2, 1)))
// CHECK-NEXT: void f_kernel0(const long n, __global const float* restrict x, __global float* restrict y) {
// CHECK-NEXT:   const index_t b = get_group_id(0);
// CHECK-NEXT:   const index_t r = get_local_id(1);
// CHECK-NEXT:   const index_t t = get_local_id(0);
// CHECK-NEXT:   if (n - {{.*}} >= 0) {
// CHECK-NEXT:     const float v = x[{{.*}}];
// CHECK-NEXT:     y[{{.*}}] = v;
tir.func @f_kernel0(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {device, outputs = 1 : i64} {
  tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "y.0" {
    tir.for %r = 0 to 2 thread "threadIdx.y" "y.1" {
      tir.for %t = 0 to 32 thread "threadIdx.x" "y.2" {
        tir.if [%n - %b * 64 - %r * 32 - %t - 1 >= 0] {
          %v = tir.load %x[%b * 64 + %r * 32 + %t] : memref<?xf32>
          tir.store %v, %y[%b * 64 + %r * 32 + %t] : memref<?xf32>
        }
      }
    }
  }
}
