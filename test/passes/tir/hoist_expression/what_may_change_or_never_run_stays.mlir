// RUN: opt-tool %s -p tir-hoist-expression | filecheck %s
// y is written in the loop; %j may have no iteration, %k runs at once with others.

tir.func @f(%n: index, %A: memref<4xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  // CHECK:      tir.for %i = 0 to 8 "y.i" {
  // CHECK-NEXT:   %a = tir.load %y[0] : memref<8xi32>
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %y[0] : memref<8xi32>
    tir.store %a, %y[%i] : memref<8xi32>
  }
  // CHECK:      tir.for %j = 0 to 8 min [%n] "y.j" {
  // CHECK-NEXT:   %a = tir.load %A[0] : memref<4xi32>
  tir.for %j = 0 to 8 min [%n] "y.j" {
    %a = tir.load %A[0] : memref<4xi32>
    tir.store %a, %y[%j] : memref<8xi32>
  }
  // CHECK:      tir.for %k = 0 to 8 parallel "y.k" {
  // CHECK-NEXT:   %a = tir.load %A[0] : memref<4xi32>
  tir.for %k = 0 to 8 parallel "y.k" {
    %a = tir.load %A[0] : memref<4xi32>
    tir.store %a, %y[%k] : memref<8xi32>
  }
}
