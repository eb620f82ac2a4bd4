// RUN: opt-tool %s -p 'tir-hoist-if-then-else{guards=true}' | filecheck %s

tir.func @f(%n: index, %X: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8xf32>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      tir.if [%n - 1 >= 0, %n - %i - 1 >= 0, %n - %j - 1 >= 0] {
        %x = tir.load %X[%i, %j] : memref<8x8xf32>
        tir.store %x, %y[%i, %j] : memref<8x8xf32>
      }
    }
  }
  tir.for %k = 0 to 8 "z.k" {
    %x = tir.load %X[%k, 0] where [%n - 3 >= 0, 6 - %k >= 0] : memref<8x8xf32>
    tir.store %x, %z[%k] where [%n - 3 >= 0] : memref<8xf32>
  }
}

// CHECK:      tir.if [%n - 1 >= 0] {
// CHECK-NEXT:   tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:     tir.if [%n + %i * -1 - 1 >= 0] {
// CHECK-NEXT:       tir.for %j = 0 to 8 "y.j" {
// CHECK-NEXT:         tir.if [%n + %j * -1 - 1 >= 0] {
// CHECK:      tir.if [%n - 3 >= 0] {
// CHECK-NEXT:   tir.for %k = 0 to 8 "z.k" {
// CHECK-NEXT:     %x = tir.load %X[%k, 0] where [%k * -1 + 6 >= 0] : memref<8x8xf32>
// CHECK-NEXT:     tir.store %x, %z[%k] : memref<8xf32>
