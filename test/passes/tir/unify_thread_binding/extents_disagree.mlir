// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// The axis is as long as the longest of its loops; the threads beyond a shorter one have no work there.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<4xf32>) attributes {outputs = 2 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
      %v = tir.load %x[%j] : memref<8xf32>
      tir.store %v, %z[%j] : memref<4xf32>
    }
    tir.for %i = 0 to 8 thread "threadIdx.x" "i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %y[%i] : memref<8xf32>
    }
  }
}

// CHECK:      tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
// CHECK-NEXT:   tir.for %i = 0 to 8 thread "threadIdx.x" "i" {
// CHECK-NEXT:     tir.if [%i * -1 + 3 >= 0] {
// CHECK-NEXT:       %v = tir.load %x[%i] : memref<8xf32>
// CHECK-NEXT:       tir.store %v, %z[%i] : memref<4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V:.*]] = tir.load %x[%i] : memref<8xf32>
// CHECK-NEXT:     tir.store %[[V]], %y[%i] : memref<8xf32>
