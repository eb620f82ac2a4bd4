// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// It may leave the buffer.

// CHECK:     tir.prefetch %A[%i + 2] locality 3 : memref<8xf32>
// CHECK-NOT: outside of its bounds
tir.func @f(%A: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    tir.prefetch %A[%i + 2] locality 3 : memref<8xf32>
    %a = tir.load %A[%i] : memref<8xf32>
    tir.store %a, %y[%i] : memref<8xf32>
  }
}
