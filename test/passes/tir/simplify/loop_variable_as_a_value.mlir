// RUN: opt-tool %s -p tir-simplify | filecheck %s
// A loop of one iteration goes, and its variable with it.

// CHECK:      %0 = tir.index [0] : index
// CHECK-NEXT: tir.store %0, %y[0] : memref<8xindex>
tir.func @f(%y: memref<8xindex>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 1 "y.i" {
    tir.store %i, %y[%i] : memref<8xindex>
  }
}
