// RUN: opt-tool %s --verify-roundtrip | filecheck %s

tir.func @f(%A: memref<8x40xf32>) attributes {outputs = 0 : i64} {
  tir.for %i = 0 to 8 "i" {
    // CHECK: tir.prefetch %A[%i + 2, 0] locality 3 : memref<8x40xf32>
    tir.prefetch %A[%i + 2, 0] locality 3 : memref<8x40xf32>
    // CHECK: tir.prefetch %A[%i, 16] where [%i - 1 >= 0] write locality 0 : memref<8x40xf32>
    tir.prefetch %A[%i, 16] where [%i - 1 >= 0] write locality 0 : memref<8x40xf32>
  }
}
