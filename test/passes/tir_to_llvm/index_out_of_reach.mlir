// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<4x4xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 "y.i" {
    // expected-error @below {{the number 1152921504606846976 in an index is out of reach}}
    %a = tir.load %x[%i * 1152921504606846976, 0] : memref<4x4xf32>
    tir.store %a, %y[%i] : memref<4xf32>
  }
}
