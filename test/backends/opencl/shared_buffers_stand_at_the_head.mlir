// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// Shared memory is local, and is declared where OpenCL C allows it. Threads of a warp wait as all of the group do.

// CHECK:      typedef int index_t;
// CHECK:      void f(__global const float* restrict x, __global float* restrict y) {
// CHECK-NEXT:   __local float s[8] __attribute__((aligned(16)));
// CHECK-NEXT:   const index_t t = get_local_id(0);
// CHECK-NEXT:   for (index_t k = 0; k < 4; ++k) {
// CHECK-NEXT:     float own[2] __attribute__((aligned(16)));
// CHECK:          barrier(CLK_LOCAL_MEM_FENCE);
// CHECK:          barrier(CLK_LOCAL_MEM_FENCE);
tir.func @f(%x: memref<32xf32>, %y: memref<32xf32>) attributes {device, outputs = 1 : i64} {
  tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
    tir.for %k = 0 to 4 "y.k" {
      %own = tir.alloc "own" scope "local" : memref<2xf32>
      %s = tir.alloc "s" scope "shared" : memref<8xf32>
      %v = tir.load %x[%k * 8 + %t] : memref<32xf32>
      tir.store %v, %own[0] : memref<2xf32>
      tir.barrier "warp"
      tir.store %v, %s[%t] : memref<8xf32>
      tir.barrier "shared"
      %w = tir.load %s[7 - %t] : memref<8xf32>
      %o = tir.load %own[0] : memref<2xf32>
      %z = arith.addf %w, %o : f32
      tir.store %z, %y[%k * 8 + %t] : memref<32xf32>
    }
  }
}
