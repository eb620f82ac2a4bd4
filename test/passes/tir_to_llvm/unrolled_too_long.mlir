// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics
// A million copies would take minutes, and LLVM hours.

tir.func @f(%x: memref<1048576xf32>, %y: memref<1048576xf32>) {
  // expected-error @below {{'y.i' unrolled 1048576 times is 2097152 ops long, the limit is 65536; unroll a part of it: split the loop first}}
  tir.for %i = 0 to 1048576 unrolled "y.i" {
    %a = tir.load %x[%i] : memref<1048576xf32>
    tir.store %a, %y[%i] : memref<1048576xf32>
  }
}
