// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Lanes of another type: signed bytes as floats.

tir.func @f(%x: memref<8xi8>, %y: memref<8xf32>) {
  %v = tir.load %x[lane] : memref<8xi8>, vector<8xi8>
  %w = tir.cast sitofp %v : vector<8xi8> to vector<8xf32>
  tir.store %w, %y[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK: %w = tir.cast sitofp %v : vector<8xi8> to vector<8xf32>
// LLVM: %w = llvm.sitofp %v : vector<8xi8> to vector<8xf32>
