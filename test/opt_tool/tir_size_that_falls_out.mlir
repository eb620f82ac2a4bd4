// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// What an extent, a bound or a condition loses is no operand; the others are ordered as the printed text names them.

tir.func @k(%y: memref<4xf32>) attributes {outputs = 1 : i64, device} {
}

tir.func @f(%n: index, %m: index, %y: memref<4xf32>) {
  // CHECK: tir.alloc "b" scope "global" [%m + %n, %m] : memref<?x?xf32>
  %b = tir.alloc "b" scope "global" [%n - %n + %m + %n, %n * 0 + %m] : memref<?x?xf32>
  // CHECK: tir.for %i = 0 to min [%m, %n] "i" {
  tir.for %i = 0 to min [%n - %n + %m, %n] "i" {
    // CHECK: tir.if [%m + %i * -1 >= 0, %i == 0] {
    tir.if [%i - %i + %m - %i >= 0, %i == 0] {
    }
  }
  // CHECK: tir.launch @k grid [%m, %n] block [%n] (%y) : memref<4xf32>
  tir.launch @k grid [%n * 0 + %m, %n] block [%n] (%y) : memref<4xf32>
}
