// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// One element in all lanes.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %v = tir.load %x[3] : memref<8xf32>
  %all = tir.broadcast %v : f32 to vector<8xf32>
  tir.store %all, %y[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK: %all = tir.broadcast %v : f32 to vector<8xf32>
// LLVM: %v = llvm.load %{{[0-9]+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// LLVM: %{{[0-9]+}} = llvm.insertelement %v, %{{[0-9]+}}[%{{[0-9]+}} : i32] : vector<8xf32>
// LLVM: %{{[0-9]+}} = llvm.shufflevector %{{[0-9]+}}, %{{[0-9]+}} [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
