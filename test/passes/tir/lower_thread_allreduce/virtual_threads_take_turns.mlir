// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// One thread takes virtual ones together: it adds up what they add one after the other.

tir.func @f(%X: memref<6xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 6 thread "vthread" reduction "y.k" {
    tir.block "y" init {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %y[0] : memref<1xf32>
    } do {
      %s = tir.load %y[0] : memref<1xf32>
      %x = tir.load %X[%k] : memref<6xf32>
      %t = arith.addf %s, %x : f32
      tir.store %t, %y[0] : memref<1xf32>
    }
  }
}

// CHECK:      tir.for %k = 0 to 6 reduction "y.k" {
// CHECK-NEXT:   tir.block "y" init {
