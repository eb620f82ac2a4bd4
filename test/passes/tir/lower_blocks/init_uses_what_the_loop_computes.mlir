// RUN: opt-tool %s -p tir-lower-blocks --verify-diagnostics

tir.func @f(%X: memref<4x8xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 8 reduction "y.k" {
    %zero = arith.constant 0.0 : f32
    tir.for %i = 0 to 4 "y.i" {
      // expected-error @below {{the init of 'y' uses %zero, which is computed in the loop 'y.k' that it starts before; compute it in the init}}
      tir.block "y" init {
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x8xf32>
        %t = arith.addf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}
