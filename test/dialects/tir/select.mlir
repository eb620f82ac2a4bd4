// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Each lane chooses for itself.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %v = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %positive = tir.compare ogt, %v, %zero : vector<8xf32>
  %relu = tir.select %positive, %v, %zero : vector<8xi1>, vector<8xf32>
  tir.store %relu, %y[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK: %relu = tir.select %positive, %v, %zero : vector<8xi1>, vector<8xf32>
// LLVM: %{{[0-9]+}} = llvm.fcmp "ogt" %v, %zero : vector<8xf32>
// LLVM: %relu = llvm.select %{{[0-9]+}}, %v, %zero : vector<8xi1>, vector<8xf32>
