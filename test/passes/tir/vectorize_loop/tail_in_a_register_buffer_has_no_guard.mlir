// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// Lanes beyond the end may hold anything until they leave the registers.

tir.func @f(%A: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    %acc = tir.alloc "acc" scope "register" : memref<4xf32>
    tir.for %i = 0 to 4 min [%o * -4 + 10] vectorized "acc.i" {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %acc[%i] : memref<4xf32>
    }
    tir.for %j = 0 to 4 min [%o * -4 + 10] vectorized "y.1" {
      %a = tir.load %acc[%j] : memref<4xf32>
      tir.store %a, %y[%o * 4 + %j] : memref<10xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%A: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %o = 0 to 3 "y.0" {
// CHECK-NEXT:     %acc = tir.alloc "acc" scope "register" : memref<4xf32>
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %0 = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-NEXT:     tir.store %0, %acc[lane] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:     %a = tir.load %acc[lane] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:     tir.store %a, %y[%o * 4 + lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
