// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Lanes compared with lanes.

tir.func @f(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<8xf32>) {
  %v = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
  %w = tir.load %z[lane] : memref<8xf32>, vector<8xf32>
  %less = tir.compare olt, %v, %w : vector<8xf32>
  %least = tir.select %less, %v, %w : vector<8xi1>, vector<8xf32>
  tir.store %least, %y[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK: %less = tir.compare olt, %v, %w : vector<8xf32>
// LLVM: %{{[0-9]+}} = llvm.fcmp "olt" %v, %w : vector<8xf32>
// LLVM: %least = llvm.select %{{[0-9]+}}, %v, %w : vector<8xi1>, vector<8xf32>
