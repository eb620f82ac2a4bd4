// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// What does not depend on it stays scalar and is broadcast; a constant becomes a vector.

tir.func @f(%A: memref<8xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) attributes {outputs = 1 : i64} {
  tir.for %j = 0 to 8 "y.j" {
    tir.for %i = 0 to 16 vectorized "y.i" {
      %a = tir.load %A[%j] : memref<8xf32>
      %b = tir.load %B[%j, %i] : memref<8x16xf32>
      %two = arith.constant 2.0 : f32
      %c = arith.mulf %b, %two : f32
      %d = arith.addf %a, %c : f32
      tir.store %d, %y[%j, %i] : memref<8x16xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%A: memref<8xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %j = 0 to 8 "y.j" {
// CHECK-NEXT:     %a = tir.load %A[%j] : memref<8xf32>
// CHECK-NEXT:     %b = tir.load %B[%j, lane] : memref<8x16xf32>, vector<16xf32>
// CHECK-NEXT:     %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     %0 = arith.constant dense<2.000000e+00> : vector<16xf32>
// CHECK-NEXT:     %c = arith.mulf %b, %0 : vector<16xf32>
// CHECK-NEXT:     %1 = tir.broadcast %a : f32 to vector<16xf32>
// CHECK-NEXT:     %d = arith.addf %1, %c : vector<16xf32>
// CHECK-NEXT:     tir.store %d, %y[%j, lane] : memref<8x16xf32>, vector<16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
