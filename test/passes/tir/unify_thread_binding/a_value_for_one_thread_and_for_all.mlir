// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// All threads compute the value, which each keeps; only the first stores it to y.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<2x4xf32>) attributes {outputs = 2 : i64} {
  tir.for %t = 0 to 2 thread "threadIdx.x" "t" {
    %own = tir.alloc "own" scope "local" : memref<4xf32>
    tir.for %i = 0 to 4 "i" {
      %v = tir.load %x[%i] : memref<4xf32>
      tir.store %v, %y[%i] : memref<4xf32>
      tir.store %v, %own[%i] : memref<4xf32>
    }
    tir.for %j = 0 to 4 "j" {
      %w = tir.load %own[%j] : memref<4xf32>
      tir.store %w, %z[%t, %j] : memref<2x4xf32>
    }
  }
}
// CHECK:      tir.for %i = 0 to 4 "i" {
// CHECK-NEXT:   %v = tir.load %x[%i] : memref<4xf32>
// CHECK-NEXT:   tir.if [%t == 0] {
// CHECK-NEXT:     tir.store %v, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.store %v, %own[%i] : memref<4xf32>
