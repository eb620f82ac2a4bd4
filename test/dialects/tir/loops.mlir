// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Loops of every kind, bounds, blocks, accesses with guards and lanes print as they are written.

// CHECK-LABEL: tir.func @f(%X: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
tir.func @f(%X: memref<10xf32>, %y: memref<10xf32>) {
  // CHECK-NEXT: tir.for %io = 0 to 3 parallel "i.0" {
  tir.for %io = 0 to 3 parallel "i.0" {
    // CHECK-NEXT: %t = tir.alloc "t" scope "register" : memref<4xf32>
    %t = tir.alloc "t" scope "register" : memref<4xf32>
    // CHECK-NEXT: tir.for %ii = 0 to 4 min [%io * -4 + 10] unrolled "i.1" {
    tir.for %ii = 0 to 4 min [%io * -4 + 10] unrolled "i.1" {
      // CHECK-NEXT: tir.for %k = 0 to 2 reduction "k" {
      tir.for %k = 0 to 2 reduction "k" {
        // CHECK-NEXT: tir.block "t" init {
        tir.block "t" init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %t[%ii] : memref<4xf32>
        // CHECK: } do {
        } do {
          %a = tir.load %t[%ii] : memref<4xf32>
          // CHECK: %x = tir.load %X[%io * 4 + %ii + %k * -1] where [%io * 4 + %ii + %k * -1 >= 0] : memref<10xf32>
          %x = tir.load %X[%io * 4 + %ii - %k] where [%io * 4 + %ii - %k >= 0] : memref<10xf32>
          %s = arith.addf %a, %x : f32
          tir.store %s, %t[%ii] : memref<4xf32>
        }
      }
    }
    // CHECK: %v = tir.load %t[lane] : memref<4xf32>, vector<4xf32>
    %v = tir.load %t[lane] : memref<4xf32>, vector<4xf32>
    // CHECK-NEXT: tir.store %v, %y[%io * 4 + lane] where [%io * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
    tir.store %v, %y[%io * 4 + lane] where [%io * 4 + lane <= 9] : memref<10xf32>, vector<4xf32>
  }
}
