// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s

// CHECK:      %0 = tir.index [lane] : vector<8xindex>
// CHECK-NEXT: tir.store %0, %y[lane] : memref<8xindex>, vector<8xindex>
tir.func @f(%y: memref<8xindex>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 vectorized "y.i" {
    tir.store %i, %y[%i] : memref<8xindex>
  }
}
