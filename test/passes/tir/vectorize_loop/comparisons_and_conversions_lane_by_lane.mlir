// RUN: opt-tool %s -p tir-vectorize-loop --verify-roundtrip
// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// What arith has for scalars only becomes tir.compare, tir.cast and tir.select.

tir.func @f(%A: memref<8xf32>, %B: memref<8xi8>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 vectorized "y.i" {
    %a = tir.load %A[%i] : memref<8xf32>
    %b = tir.load %B[%i] : memref<8xi8>
    %c = arith.sitofp %b : i8 to f32
    %p = arith.cmpf ogt, %a, %c : f32
    %s = arith.select %p, %a, %c : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}

// CHECK-LABEL: tir.func @f(%A: memref<8xf32>, %B: memref<8xi8>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %A[lane] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT:   %b = tir.load %B[lane] : memref<8xi8>, vector<8xi8>
// CHECK-NEXT:   %c = tir.cast sitofp %b : vector<8xi8> to vector<8xf32>
// CHECK-NEXT:   %p = tir.compare ogt, %a, %c : vector<8xf32>
// CHECK-NEXT:   %s = tir.select %p, %a, %c : vector<8xi1>, vector<8xf32>
// CHECK-NEXT:   tir.store %s, %y[lane] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: }
