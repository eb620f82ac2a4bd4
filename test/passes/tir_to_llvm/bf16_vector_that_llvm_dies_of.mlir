// RUN: opt-tool %s -p tir-vectorize-loop,tir-to-llvm --verify-diagnostics
// For machines with AVX512-BF16, LLVM's code generator ends the process at the ninth lane.

tir.func @f(%x: memref<9xbf16>, %y: memref<9xbf16>) {
  tir.for %i = 0 to 9 vectorized "y.i" {
    // expected-error @below {{vector<9xbf16>: LLVM has no code for bf16 vectors of 8n + 1 lanes; split the loop by a power of two before it is vectorized}}
    %a = tir.load %x[%i] : memref<9xbf16>
    tir.store %a, %y[%i] : memref<9xbf16>
  }
}
