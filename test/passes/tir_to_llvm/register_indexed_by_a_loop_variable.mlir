// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %acc = tir.alloc "acc" scope "register" : memref<4xf32>
  tir.for %i = 0 to 4 "y.i" {
    %v = tir.load %x[%i] : memref<4xf32>
    // expected-error@+1 {{register buffer 'acc' is indexed by the loop variable of 'y.i'; unroll that loop}}
    tir.store %v, %acc[%i] : memref<4xf32>
  }
}
