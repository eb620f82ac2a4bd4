// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%c: memref<4xi8>) {
  %x = tir.load %c[lane] : memref<4xi8>, vector<4xi8>
  // expected-error@+1 {{vector<4xi8> and i16 do not take the same whole bytes}}
  %w = tir.bitcast %x : vector<4xi8> to i16
}
