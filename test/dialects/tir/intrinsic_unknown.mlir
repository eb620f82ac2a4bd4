// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%c: memref<16xi32>) {
  %x = tir.load %c[lane] : memref<16xi32>, vector<16xi32>
  // expected-error@+1 {{unknown intrinsic 'llvm.x86.avx512.vpdpbusd.51'; did you mean 'llvm.x86.avx512.vpdpbusd.512'}}
  %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.51"(%x, %x, %x) : (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
}
