// RUN: opt-tool %s --verify-diagnostics --split-input-file

tir.func @f(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    // expected-error @below {{a number of an index is at most 4611686018427387904}}
    %a = tir.load %x[%i * 99999999999999999999999] : memref<8xf32>
  }
}
// -----
tir.func @f(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    // expected-error @below {{the divisor of an index is a positive constant of at most 4611686018427387904}}
    %a = tir.load %x[%i mod 99999999999999999999999] : memref<8xf32>
  }
}
