// RUN: opt-tool %s -p tir-expand-math | filecheck %s
// LLVM does it as well, with an instruction that rounds.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "cooperlake",
    features = "+avx,+avx2,+avx512bf16,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<16xbf16>, %y: memref<16xbf16>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[lane] : memref<16xbf16>, vector<16xbf16>
    %p = arith.mulf %a, %a : vector<16xbf16>
    %s = arith.addf %p, %a : vector<16xbf16>
    %n = arith.negf %s : vector<16xbf16>
    tir.store %n, %y[lane] : memref<16xbf16>, vector<16xbf16>
  }
}
// CHECK-NOT:  extf
// CHECK:      arith.addf %p, %a : vector<16xbf16>
// CHECK-NOT:  truncf
