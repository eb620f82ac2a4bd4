// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// However many terms there are, 32 threads add them up, each every 32nd.

tir.func @f(%n: index, %X: memref<4x?xf32> {te.shape = #te.map<(d0) -> (4, d0)>}, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %k = 0 to min [%n] thread "threadIdx.x" reduction "y.k" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x?xf32>
        %t = arith.addf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK:      %y_parts = tir.alloc "y.parts" scope "shared" : memref<32xf32>
// CHECK-NEXT: tir.for %k = 0 to 32 thread "threadIdx.x" "y.k" {
// CHECK:        tir.for %k_1 = 0 to min [(%n + 31) floordiv 32] reduction "y.k.turn" {
// CHECK-NEXT:     tir.block "y.part" where [%n + %k_1 * -32 + %k * -1 - 1 >= 0] {
// CHECK:            tir.load %X[%i, %k_1 * 32 + %k]
// CHECK:      tir.for %k = 0 to 32 thread "threadIdx.x" "y.k.fold16" {
// CHECK:      tir.block "y" {
// CHECK-NEXT:   %0 = tir.load %y_parts[0]
