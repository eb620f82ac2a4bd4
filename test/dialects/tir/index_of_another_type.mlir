// RUN: opt-tool %s --verify-diagnostics --split-input-file

tir.func @f(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    // expected-error @below {{gives index, or a vector of it, not f32}}
    %a = tir.index [%i] : f32
  }
}
// -----
tir.func @f(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    // expected-error @below {{gives i1, or a vector of it, not vector<8xi8>}}
    %a = tir.condition [%i - 3 >= 0] : vector<8xi8>
  }
}
