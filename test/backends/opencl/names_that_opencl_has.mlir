// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s

// CHECK:      void kernel_1(__global const float* restrict float4_1, __global float* restrict local_1) {
// CHECK-NEXT:   const index_t get_group_id_1 = get_local_id(0);
// CHECK-NEXT:   const float min_1 = float4_1[get_group_id_1];
tir.func @kernel(%float4: memref<8xf32>, %local: memref<8xf32>) attributes {device, outputs = 1 : i64} {
  tir.for %get_group_id = 0 to 8 thread "threadIdx.x" "y.t" {
    %min = tir.load %float4[%get_group_id] : memref<8xf32>
    tir.store %min, %local[%get_group_id] : memref<8xf32>
  }
}
