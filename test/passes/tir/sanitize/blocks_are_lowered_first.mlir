// RUN: opt-tool %s -p tir-sanitize --verify-diagnostics

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    // expected-error@+1 {{tir-sanitize: there are blocks; run tir-lower-blocks before it}}
    tir.block "y" {
      %x = tir.load %X[%i] : memref<4xf32>
      tir.store %x, %y[%i] : memref<4xf32>
    }
  }
}
