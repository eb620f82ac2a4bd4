// RUN: opt-tool %s -p 'tir-unroll-loop{auto-max-step=4}' | filecheck %s
// Eight stores are too many, an extent that is not known is, a loop of this kind waits for tir-to-llvm.

tir.func @f(%n: index, %X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  // CHECK: tir.for %i = 0 to 8 "y.i" {
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.store %x, %y[%i] : memref<8xf32>
  }
  // CHECK: tir.for %j = 0 to min [%n] "y.j" {
  tir.for %j = 0 to min [%n] "y.j" {
    %x = tir.load %X[%j] : memref<8xf32>
    tir.store %x, %y[%j] : memref<8xf32>
  }
  // CHECK: tir.for %k = 0 to 3 unrolled "y.k" {
  tir.for %k = 0 to 3 unrolled "y.k" {
    %x = tir.load %X[%k] : memref<8xf32>
    tir.store %x, %y[%k] : memref<8xf32>
  }
  // CHECK: tir.for %l = 0 to 4 unrolled "y.l" {
  tir.for %l = 0 to 4 "y.l" {
    %x = tir.load %X[%l] : memref<8xf32>
    tir.store %x, %y[%l] : memref<8xf32>
  }
}
