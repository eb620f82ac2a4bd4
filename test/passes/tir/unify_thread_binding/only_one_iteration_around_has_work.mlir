// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// Which of the outer iterations fetches does not matter: the threads of the inner loop do. No outer iteration is the ninth.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 4 thread "threadIdx.x" "i" {
    tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
      %v = tir.load %x[%j] : memref<4xf32>
      tir.if [%i - 2 == 0] {
        tir.store %v, %y[%j] : memref<4xf32>
      }
    }
    tir.for %k = 0 to 4 thread "threadIdx.x" "k" {
      tir.if [%i - 8 == 0] {
        %w = tir.load %x[%k] : memref<4xf32>
        tir.store %w, %z[%k] : memref<4xf32>
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 thread "threadIdx.x" "i" {
// CHECK-NEXT:   %v = tir.load %x[%i] : memref<4xf32>
// CHECK-NEXT:   tir.store %v, %y[%i] : memref<4xf32>
// CHECK-NEXT:   tir.if [-5 >= 0] {
