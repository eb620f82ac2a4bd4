// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// A block of blocks within the loop is taken apart; what it asks for is asked of the block in it.

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %k = 0 to 2 thread "threadIdx.x" reduction "y.k.0" {
      tir.block "outer" where [%i * -1 + 2 >= 0] {
        tir.for %l = 0 to 3 reduction "y.k.1" {
          tir.block "y" init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %y[%i] : memref<4xf32>
          } do {
            %s = tir.load %y[%i] : memref<4xf32>
            %x = tir.load %X[%i, %k * 3 + %l] : memref<4x6xf32>
            %t = arith.addf %s, %x : f32
            tir.store %t, %y[%i] : memref<4xf32>
          }
        }
      }
    }
  }
}

// CHECK-NOT:  "outer"
// CHECK:      tir.for %k = 0 to 2 thread "threadIdx.x" "y.k.0" {
// CHECK:        tir.for %l = 0 to 3 reduction "y.k.1" {
// CHECK-NEXT:     tir.block "y.part" where [%i * -1 + 2 >= 0] {
// CHECK:      tir.block "y" where [%i * -1 + 2 >= 0] {
