// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// Threads that read what others of their group have written to global memory: the barrier is one of that memory too, and
// the pointer is no restricted one.

// CHECK: void f(__global const float* restrict x, __global float* y) {
// CHECK: barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {device, outputs = 1 : i64} {
  tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
    %v = tir.load %x[%t] : memref<8xf32>
    tir.store %v, %y[%t] : memref<8xf32>
    tir.barrier "global"
    %w = tir.load %y[7 - %t] : memref<8xf32>
    tir.barrier "global"
    tir.store %w, %y[%t] : memref<8xf32>
  }
}
