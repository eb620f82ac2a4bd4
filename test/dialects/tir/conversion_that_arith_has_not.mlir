// RUN: opt-tool %s --split-input-file --verify-diagnostics

tir.func @unknown(%a: memref<4xi8>) {
  %x = tir.load %a[lane] : memref<4xi8>, vector<4xi8>
  // expected-error@+1 {{'widen' is none of}}
  %y = tir.cast widen %x : vector<4xi8> to vector<4xi32>
}
// -----
tir.func @lanes(%a: memref<4xi8>) {
  %x = tir.load %a[lane] : memref<4xi8>, vector<4xi8>
  // expected-error@+1 {{a conversion keeps the number of lanes}}
  %y = tir.cast extsi %x : vector<4xi8> to vector<8xi32>
}
// -----
tir.func @compare(%a: memref<4xi32>) {
  %x = tir.load %a[lane] : memref<4xi32>, vector<4xi32>
  // expected-error@+1 {{'ogt' is none of}}
  %y = tir.compare ogt, %x, %x : vector<4xi32>
}
// -----
tir.func @scalar(%a: memref<4xi32>) {
  %x = tir.load %a[0] : memref<4xi32>
  // expected-error@+1 {{tir.compare takes vectors; scalars are compared by arith.cmpi and arith.cmpf}}
  %y = tir.compare slt, %x, %x : i32
}
