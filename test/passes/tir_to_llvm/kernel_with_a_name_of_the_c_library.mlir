// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics --split-input-file
// LLVM turns sines of f64 into calls of `sin`, which would be the kernel itself, until the stack ends.

// expected-error @below {{a kernel cannot be called 'sin', like a function of the C library; give it another name}}
tir.func @sin(%x: memref<4xf64>, %y: memref<4xf64>) {
  tir.for %i = 0 to 4 "y.i" {
    %a = tir.load %x[%i] : memref<4xf64>
    %b = math.sin %a : f64
    tir.store %b, %y[%i] : memref<4xf64>
  }
}
// -----
// expected-error @below {{a kernel cannot be called 'malloc', like a function of the C library}}
tir.func @malloc(%y: memref<4xf64>) {
}
