// RUN: opt-tool %s -p tir-hoist-if-then-else | filecheck %s

tir.func @f(%n: index, %X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  // CHECK:      tir.for %i = 0 to 8 "y.i" {
  // CHECK-NEXT:   %x = tir.load
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.store %x, %y[%i] : memref<8xf32>
    tir.if [%n - 1 >= 0] {
      %s = arith.addf %x, %x : f32
      tir.store %s, %y[%i] : memref<8xf32>
    }
  }
  // CHECK:      tir.for %j = 0 to 8 parallel "z.j" {
  // CHECK-NEXT:   tir.if [%n - 1 >= 0] {
  tir.for %j = 0 to 8 parallel "z.j" {
    tir.if [%n - 1 >= 0] {
      %x = tir.load %X[%j] : memref<8xf32>
      tir.store %x, %y[%j] : memref<8xf32>
    }
  }
}
