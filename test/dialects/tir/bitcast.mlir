// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// The same bits as another type.

tir.func @f(%x: memref<8xf32>, %y: memref<8xi32>) {
  %v = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
  %bits = tir.bitcast %v : vector<8xf32> to vector<8xi32>
  tir.store %bits, %y[lane] : memref<8xi32>, vector<8xi32>
}

// CHECK: %bits = tir.bitcast %v : vector<8xf32> to vector<8xi32>
// LLVM: %bits = llvm.bitcast %v : vector<8xf32> to vector<8xi32>
