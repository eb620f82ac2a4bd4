// RUN: opt-tool %s --verify-diagnostics --split-input-file

tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-error @below {{accesses vector<0xf32>; a vector has one dimension of at least one lane}}
  %a = tir.load %x[lane] : memref<16xf32>, vector<0xf32>
  tir.store %a, %y[lane] : memref<16xf32>, vector<0xf32>
}
// -----
tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-error @below {{accesses vector<f32>; a vector has one dimension of at least one lane}}
  %a = tir.load %x[lane] : memref<16xf32>, vector<f32>
}
// -----
tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-error @below {{the dimension lane in an access of one element; name the vector's type}}
  %a = tir.load %x[lane] : memref<16xf32>
}
// -----
tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.load %x[0] : memref<16xf32>
  // expected-error @below {{f32 in the lanes of vector<4xi32>}}
  %b = tir.broadcast %a : f32 to vector<4xi32>
}
// -----
tir.func @f(%x: memref<16xf32>, %y: memref<16xi8>) {
  // expected-error @below {{memref<16xf32> to memref<16xi8>; both are of one type}}
  tir.copy %x to %y : memref<16xf32>, memref<16xi8>
}
