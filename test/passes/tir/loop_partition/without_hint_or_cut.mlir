// RUN: opt-tool %s -p tir-loop-partition | filecheck %s
// Nobody asked for %i, and nothing changes within %j.

tir.func @f(%n: index, %X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  // CHECK: tir.for %i = 0 to 8 "y.i" {
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
    tir.store %a, %y[%i] : memref<8xf32>
  }
  // CHECK: tir.for %j = 0 to 8 "z.j" {
  tir.for %j = 0 to 8 "z.j" attributes {pragma_loop_partition_hint = 1 : i64} {
    // CHECK: tir.load %X[%j] where [%n + %j * -1 >= 0]
    %a = tir.load %X[%j] where [%n - %j >= 0] : memref<8xf32>
    tir.store %a, %y[%j] : memref<8xf32>
  }
}
