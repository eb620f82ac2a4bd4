// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// %n differs by lane, %m does not.

tir.func @f(%y: memref<8xindex>, %z: memref<8xindex>) attributes {outputs = 2 : i64} {
  tir.for %o = 0 to 2 "y.0" {
    tir.for %i = 0 to 4 vectorized "y.1" {
      %n = tir.index [%o * 4 + %i] : index
      tir.store %n, %y[%o * 4 + %i] : memref<8xindex>
      %m = tir.index [%o + 1] : index
      tir.store %m, %z[%o * 4 + %i] : memref<8xindex>
    }
  }
}

// CHECK-LABEL: tir.func @f(%y: memref<8xindex>, %z: memref<8xindex>) attributes {outputs = 2 : i64} {
// CHECK-NEXT:   tir.for %o = 0 to 2 "y.0" {
// CHECK-NEXT:     %n = tir.index [%o * 4 + lane] : vector<4xindex>
// CHECK-NEXT:     tir.store %n, %y[%o * 4 + lane] : memref<8xindex>, vector<4xindex>
// CHECK-NEXT:     %m = tir.index [%o + 1] : index
// CHECK-NEXT:     %0 = tir.broadcast %m : index to vector<4xindex>
// CHECK-NEXT:     tir.store %0, %z[%o * 4 + lane] : memref<8xindex>, vector<4xindex>
// CHECK-NEXT:   }
// CHECK-NEXT: }
