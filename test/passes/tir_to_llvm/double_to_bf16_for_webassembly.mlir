// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics
// LLVM would end the process.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<4xf64>, %y: memref<4xbf16>) {
    %a = tir.load %x[lane] : memref<4xf64>, vector<4xf64>
    // expected-error @below {{there is no rounding of float64 to bfloat16 for wasm32-unknown-unknown; go through f32}}
    %b = arith.truncf %a : vector<4xf64> to vector<4xbf16>
    tir.store %b, %y[lane] : memref<4xbf16>, vector<4xbf16>
  }
}
