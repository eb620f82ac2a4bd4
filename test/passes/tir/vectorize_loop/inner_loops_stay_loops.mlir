// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// A buffer of the body has one element for each lane; a tail that differs by lane masks the lanes that are done.

tir.func @f(%A: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 vectorized "y.i" {
    %t = tir.alloc "t" scope "global" : memref<4xf32>
    tir.for %j = 0 to 4 "t.j" {
      %a = tir.load %A[%j, %i] : memref<4x4xf32>
      tir.store %a, %t[%j] : memref<4xf32>
    }
    tir.for %k = 0 to 4 min [%i + 1] "y.k" {
      %b = tir.load %t[%k] : memref<4xf32>
      tir.store %b, %y[%k, %i] : memref<4x4xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NEXT:   %t = tir.alloc "t" scope "global" : memref<4x4xf32>
// CHECK-NEXT:   tir.for %j = 0 to 4 "t.j" {
// CHECK-NEXT:     %a = tir.load %A[%j, lane] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT:     tir.store %a, %t[%j, lane] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %k = 0 to 4 "y.k" {
// CHECK-NEXT:     %b = tir.load %t[%k, lane] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT:     tir.store %b, %y[%k, lane] where [lane + %k * -1 >= 0] : memref<4x4xf32>, vector<4xf32>
// CHECK-NEXT:   }
