// RUN: opt-tool %s -p tir-lower-thread-allreduce | filecheck %s
// The init stays with what is added in each iteration of the serial loop.

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %k = 0 to 3 reduction "y.k.0" {
      tir.for %l = 0 to 2 thread "threadIdx.x" reduction "y.k.1" {
        tir.block "y" init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%i] : memref<4xf32>
        } do {
          %s = tir.load %y[%i] : memref<4xf32>
          %x = tir.load %X[%i, %k * 2 + %l] : memref<4x6xf32>
          %t = arith.addf %s, %x : f32
          tir.store %t, %y[%i] : memref<4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
// CHECK-NEXT:     tir.for %k = 0 to 3 reduction "y.k.0" {
// CHECK-NEXT:       %y_parts = tir.alloc "y.parts" scope "shared" : memref<2xf32>
// CHECK-NEXT:       tir.for %l = 0 to 2 thread "threadIdx.x" "y.k.1" {
// CHECK-NEXT:         %y_part = tir.alloc "y.part" scope "local" : memref<f32>
// CHECK-NEXT:         tir.block "y.part.init" {
// CHECK-NEXT:           %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           tir.store %zero, %y_part[] : memref<f32>
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.block "y.part" {
// CHECK-NEXT:           %s = tir.load %y_part[] : memref<f32>
// CHECK-NEXT:           %x = tir.load %X[%i, %k * 2 + %l] : memref<4x6xf32>
// CHECK-NEXT:           %t = arith.addf %s, %x : f32
// CHECK-NEXT:           tir.store %t, %y_part[] : memref<f32>
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.block "y.parts" {
// CHECK-NEXT:           %0 = tir.load %y_part[] : memref<f32>
// CHECK-NEXT:           tir.store %0, %y_parts[%l] : memref<2xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %l = 0 to 2 thread "threadIdx.x" "y.k.1.fold1" {
// CHECK-NEXT:         tir.block "y.fold1" where [%l * -1 >= 0] {
// CHECK-NEXT:           %0 = tir.load %y_parts[%l] : memref<2xf32>
// CHECK-NEXT:           %1 = tir.load %y_parts[%l + 1] : memref<2xf32>
// CHECK-NEXT:           %t = arith.addf %0, %1 : f32
// CHECK-NEXT:           tir.store %t, %y_parts[%l] : memref<2xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.block "y" init {
// CHECK-NEXT:         %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         tir.store %zero, %y[%i] : memref<4xf32>
// CHECK-NEXT:       } do {
// CHECK-NEXT:         %0 = tir.load %y[%i] : memref<4xf32>
// CHECK-NEXT:         %1 = tir.load %y_parts[0] : memref<2xf32>
// CHECK-NEXT:         %t = arith.addf %0, %1 : f32
// CHECK-NEXT:         tir.store %t, %y[%i] : memref<4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
