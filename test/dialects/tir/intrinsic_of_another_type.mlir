// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%c: memref<16xi32>) {
  %x = tir.load %c[lane] : memref<16xi32>, vector<16xi32>
  // expected-error@+1 {{'llvm.x86.avx512.vpdpbusd.512' is of type (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>, not (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>}}
  %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%x, %x, %x) : (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
}
