// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics
// LLVM would kill the process.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  tir.func @f(%a: memref<32xi8>, %c: memref<8xi32>) {
    %x = tir.load %a[lane] : memref<32xi8>, vector<32xi8>
    %acc = tir.load %c[lane] : memref<8xi32>, vector<8xi32>
    // expected-error@+1 {{'llvm.x86.avx512.vpdpbusd.256' needs the target feature avx512vnni, which x86-64-v4 has not}}
    %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.256"(%acc, %x, %x) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
    tir.store %s, %c[lane] : memref<8xi32>, vector<8xi32>
  }
}
