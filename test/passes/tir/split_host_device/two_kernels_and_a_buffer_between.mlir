// RUN: opt-tool %s -p tir-split-host-device | filecheck %s
// The host keeps the loop around a kernel, passes its variable, and the buffer that both kernels use.

tir.func @f(%x: memref<3x4xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" : memref<4xf32>
  %one = arith.constant 1.0 : f32
  tir.for %k = 0 to 3 "k" {
    tir.for %i = 0 to 4 thread "threadIdx.x" "a.i" {
      %v = tir.load %x[%k, %i] : memref<3x4xf32>
      %w = arith.addf %v, %one : f32
      tir.store %w, %a[%i] : memref<4xf32>
    }
    tir.for %j = 0 to 4 thread "blockIdx.y" "y.j" {
      %v = tir.load %a[%j * -1 + 3] : memref<4xf32>
      tir.store %v, %y[%k, %j] : memref<3x4xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f_kernel0(%k: index, %x: memref<3x4xf32>, %a: memref<4xf32>) attributes {outputs = 1 : i64, device} {
// CHECK-NEXT:   tir.for %i = 0 to 4 thread "threadIdx.x" "a.i" {
// CHECK-NEXT:     %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %v = tir.load %x[%k, %i] : memref<3x4xf32>
// CHECK-NEXT:     %w = arith.addf %v, %one : f32
// CHECK-NEXT:     tir.store %w, %a[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-LABEL: tir.func @f_kernel1(%k: index, %a: memref<4xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64, device} {
// CHECK-NEXT:   tir.for %j = 0 to 4 thread "blockIdx.y" "y.j" {
// CHECK-NEXT:     %v = tir.load %a[%j * -1 + 3] : memref<4xf32>
// CHECK-NEXT:     tir.store %v, %y[%k, %j] : memref<3x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-LABEL: tir.func @f(%x: memref<3x4xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.alloc "a" scope "global" : memref<4xf32>
// CHECK-NEXT:   tir.for %k = 0 to 3 "k" {
// CHECK-NEXT:     tir.launch @f_kernel0 grid [1] block [4] (%k, %x, %a) : index, memref<3x4xf32>, memref<4xf32>
// CHECK-NEXT:     tir.launch @f_kernel1 grid [1, 4] block [1] (%k, %a, %y) : index, memref<4xf32>, memref<3x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
