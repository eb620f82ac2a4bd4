// RUN: opt-tool %s -p tir-vectorize-loop --verify-diagnostics

tir.func @f(%x: memref<65536xf32>, %y: memref<65536xf32>) {
  // expected-error @below {{'y.i' has 65536 iterations, a vector at most 4096 lanes; split the loop first}}
  tir.for %i = 0 to 65536 vectorized "y.i" {
    %a = tir.load %x[%i] : memref<65536xf32>
    tir.store %a, %y[%i] : memref<65536xf32>
  }
}
