// RUN: opt-tool %s -p tir-lower-thread-allreduce | filecheck %s

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "threadIdx.x" "y.i" {
    tir.for %k = 0 to 6 reduction "y.k" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x6xf32>
        %t = arith.addf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 thread "threadIdx.x" "y.i" {
// CHECK-NEXT:     tir.for %k = 0 to 6 reduction "y.k" {
// CHECK-NEXT:       tir.block "y" init {
// CHECK-NEXT:         %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         tir.store %zero, %y[%i] : memref<4xf32>
// CHECK-NEXT:       } do {
// CHECK-NEXT:         %s = tir.load %y[%i] : memref<4xf32>
// CHECK-NEXT:         %x = tir.load %X[%i, %k] : memref<4x6xf32>
// CHECK-NEXT:         %t = arith.addf %s, %x : f32
// CHECK-NEXT:         tir.store %t, %y[%i] : memref<4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
