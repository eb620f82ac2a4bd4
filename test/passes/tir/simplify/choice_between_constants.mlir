// RUN: opt-tool %s -p tir-simplify | filecheck %s
// A condition as a value is a constant where the bounds decide it, and what it chooses stands alone.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %a = tir.load %X[%i] : memref<8xf32>
    %b = tir.load %X[%i + 4] : memref<8xf32>
    %never = tir.condition [%i >= 4] : i1
    %maybe = tir.condition [%i >= 2, %i >= 0] : i1
    %c = arith.select %never, %a, %b : f32
    %d = arith.select %maybe, %c, %b : f32
    tir.store %d, %y[%i] : memref<8xf32>
  }
}

// CHECK:      tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:   %b = tir.load %X[%i + 4] : memref<8xf32>
// CHECK-NEXT:   %maybe = tir.condition [%i - 2 >= 0] : i1
// CHECK-NEXT:   %d = arith.select %maybe, %b, %b : f32
// CHECK-NEXT:   tir.store %d, %y[%i] : memref<8xf32>
// CHECK-NEXT: }
