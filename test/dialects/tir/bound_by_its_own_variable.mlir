// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error @below {{tir.for: operand #0 is used before its definition}}
  tir.for %i = 0 to 4 min [%i] "y.i" {
    %a = tir.load %y[%i] : memref<4xf32>
    tir.store %a, %y[%i] : memref<4xf32>
  }
}
