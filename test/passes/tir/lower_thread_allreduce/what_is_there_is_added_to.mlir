// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// A reduction that was begun elsewhere: parts begin as what a maximum leaves as it is, the first is added to the result.

tir.func @f(%X: memref<4x2xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.block "y.init" {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %y[%i] : memref<4xf32>
    }
    tir.for %k = 0 to 2 thread "threadIdx.x" reduction "y.k" {
      tir.block "y" {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x2xf32>
        %t = arith.maximumf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK:         tir.block "y.init"
// CHECK:         tir.for %k = 0 to 2 thread "threadIdx.x" "y.k" {
// CHECK-NEXT:      %y_part = tir.alloc "y.part" scope "local" : memref<f32>
// CHECK-NEXT:      tir.block "y.part.init" {
// CHECK-NEXT:        %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:        tir.store %0, %y_part[] : memref<f32>
// CHECK:         tir.for %k = 0 to 2 thread "threadIdx.x" "y.k.fold1" {
// CHECK:         tir.block "y" {
// CHECK-NEXT:      %0 = tir.load %y[%i] : memref<4xf32>
// CHECK-NEXT:      %1 = tir.load %y_parts[0] : memref<2xf32>
// CHECK-NEXT:      %t = arith.maximumf %0, %1 : f32
// CHECK-NEXT:      tir.store %t, %y[%i] : memref<4xf32>
