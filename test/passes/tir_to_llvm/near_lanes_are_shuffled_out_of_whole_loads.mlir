// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Every second element: two loads that end where the last one is. Each element twice: one load of half the lanes.
// Lanes far apart are loaded one by one.

// CHECK-LABEL: llvm.func internal @f.body
// CHECK:         llvm.load {{.*}} -> vector<8xf32>
// CHECK:         llvm.shufflevector {{.*}} [0, 2, 4, 6, {{.*}}] : vector<8xf32>
// CHECK:         llvm.getelementptr {{.*}}[7]
// CHECK:         llvm.load {{.*}} -> vector<8xf32>
// CHECK:         llvm.shufflevector {{.*}} [0, 1, 2, 3, 9, 11, 13, 15] : vector<8xf32>
// CHECK:         llvm.load {{.*}} -> vector<4xf32>
// CHECK:         llvm.shufflevector {{.*}} [0, 0, 1, 1, 2, 2, 3, 3] : vector<4xf32>
// CHECK:         llvm.insertelement
tir.func @f(%X: memref<64xf32>, %y: memref<3x8xf32>) {
  %a = tir.load %X[lane * 2] : memref<64xf32>, vector<8xf32>
  tir.store %a, %y[0, lane] : memref<3x8xf32>, vector<8xf32>
  %b = tir.load %X[lane floordiv 2 + 3] : memref<64xf32>, vector<8xf32>
  tir.store %b, %y[1, lane] : memref<3x8xf32>, vector<8xf32>
  %c = tir.load %X[lane * 9] : memref<64xf32>, vector<8xf32>
  tir.store %c, %y[2, lane] : memref<3x8xf32>, vector<8xf32>
}
func.func @main(%X: memref<64xf32>, %y: memref<3x8xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%X, %y) : memref<64xf32>, memref<3x8xf32>
  func.return
}
