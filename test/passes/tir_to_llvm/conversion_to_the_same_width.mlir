// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<4xbf16>, %y: memref<4xf16>) {
  %a = tir.load %x[0] : memref<4xbf16>
  // expected-error @below {{arith.truncf from bf16 to f16, which is not shorter; go through f32}}
  %b = arith.truncf %a : bf16 to f16
  tir.store %b, %y[0] : memref<4xf16>
}
