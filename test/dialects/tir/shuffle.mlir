// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// The even lanes of two vectors, and both vectors end to end.

tir.func @f(%x: memref<2x4xf32>, %y: memref<4xf32>, %z: memref<8xf32>) {
  %a = tir.load %x[0, lane] : memref<2x4xf32>, vector<4xf32>
  %b = tir.load %x[1, lane] : memref<2x4xf32>, vector<4xf32>
  %even = tir.shuffle %a, %b [0, 2, 4, 6] : vector<4xf32>
  tir.store %even, %y[lane] : memref<4xf32>, vector<4xf32>
  %both = tir.shuffle %a, %b [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
  tir.store %both, %z[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK: %even = tir.shuffle %a, %b [0, 2, 4, 6] : vector<4xf32>
// CHECK: tir.store %both, %z[lane] : memref<8xf32>, vector<8xf32>
// LLVM: = llvm.shufflevector %a, %b [0, 2, 4, 6] : vector<4xf32>
// LLVM: = llvm.shufflevector %a, %b [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
