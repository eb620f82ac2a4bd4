// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<1048576xf32>, %y: memref<1048576xf32>) {
  // expected-error @below {{vector<1048576xf32>: a vector has one dimension, of 1 to 4096 lanes}}
  %a = tir.load %x[lane] : memref<1048576xf32>, vector<1048576xf32>
  tir.store %a, %y[lane] : memref<1048576xf32>, vector<1048576xf32>
}
