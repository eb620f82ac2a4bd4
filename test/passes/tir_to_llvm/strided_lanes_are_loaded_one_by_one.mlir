// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// A column of four rows: every third element. Lanes beside each other are one load.

tir.func @column(%x: memref<4x3xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane, 1] : memref<4x3xf32>, vector<4xf32>
  tir.store %v, %y[lane] : memref<4xf32>, vector<4xf32>
}
tir.func @row(%x: memref<3x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[1, lane] : memref<3x4xf32>, vector<4xf32>
  tir.store %v, %y[lane] : memref<4xf32>, vector<4xf32>
}

// CHECK-LABEL: llvm.func internal @column.body
// CHECK: llvm.getelementptr %x[1]
// CHECK-NEXT: llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK-NEXT: llvm.insertelement
// CHECK-NEXT: llvm.getelementptr %x[4]
// CHECK-NEXT: llvm.load
// CHECK-NEXT: llvm.insertelement
// CHECK-NEXT: llvm.getelementptr %x[7]
// CHECK-NEXT: llvm.load
// CHECK-NEXT: llvm.insertelement
// CHECK-NEXT: llvm.getelementptr %x[10]
// CHECK-NEXT: llvm.load
// CHECK-NEXT: %v = llvm.insertelement %{{.+}} : vector<4xf32>
// CHECK-NEXT: llvm.store %v, %y

// CHECK-LABEL: llvm.func internal @row.body
// CHECK-NEXT: [[AT:%.+]] = llvm.getelementptr %{{x.*}}[4]
// CHECK-NEXT: llvm.load [[AT]] {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
