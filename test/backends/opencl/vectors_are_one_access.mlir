// RUN: python -m lamina.backends.opencl.translate %s | filecheck %s
// A vector whose place is a multiple of its lanes is loaded and stored whole, by at most 16 bytes; others lane by lane.

// CHECK:      const float4 wide = vload4(0, x + {{.*}}
// CHECK-NEXT: const float v_0 = wide.s0;
// CHECK:      const float v_3 = wide.s3;
// CHECK:      const float w_0 = x[{{.*}}];
// CHECK:      vstore4((float4)({{.*}}, {{.*}}, {{.*}}, {{.*}}), 0, y + {{.*}});
// CHECK:      const char16 wide_1 = vload16(0, b + 0);
// CHECK:      const char bytes_10 = wide_1.sa;
tir.func @f(%x: memref<65xf32>, %b: memref<16xi8>, %y: memref<64xf32>, %c: memref<16xi8>) attributes {device, outputs = 2 : i64} {
  tir.for %t = 0 to 16 thread "threadIdx.x" "y.t" {
    %v = tir.load %x[%t * 4 + lane] : memref<65xf32>, vector<4xf32>
    %w = tir.load %x[%t * 4 + 1 + lane] : memref<65xf32>, vector<4xf32>
    %s = arith.addf %v, %w : vector<4xf32>
    tir.store %s, %y[%t * 4 + lane] : memref<64xf32>, vector<4xf32>
    %bytes = tir.load %b[lane] : memref<16xi8>, vector<16xi8>
    tir.store %bytes, %c[lane] : memref<16xi8>, vector<16xi8>
  }
}
