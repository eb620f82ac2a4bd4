// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// @beyond reads past the end of A in the last tile; in @within A is long enough, and only the store is guarded.

tir.func @beyond(%A: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    tir.for %i = 0 to 4 min [%o * -4 + 10] vectorized "y.1" {
      %a = tir.load %A[%o * 4 + %i] : memref<10xf32>
      %b = arith.negf %a : f32
      tir.store %b, %y[%o * 4 + %i] : memref<10xf32>
    }
  }
}
tir.func @within(%A: memref<12xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    tir.for %i = 0 to 4 min [%o * -4 + 10] vectorized "y.1" {
      %a = tir.load %A[%o * 4 + %i] : memref<12xf32>
      tir.store %a, %y[%o * 4 + %i] : memref<10xf32>
    }
  }
}

// CHECK-LABEL: tir.func @beyond(%A: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %o = 0 to 3 "y.0" {
// CHECK-NEXT:     %a = tir.load %A[%o * 4 + lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
// CHECK-NEXT:     %b = arith.negf %a : vector<4xf32>
// CHECK-NEXT:     tir.store %b, %y[%o * 4 + lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @within(%A: memref<12xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %o = 0 to 3 "y.0" {
// CHECK-NEXT:     %a = tir.load %A[%o * 4 + lane] : memref<12xf32>, vector<4xf32>
// CHECK-NEXT:     tir.store %a, %y[%o * 4 + lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
