// RUN: opt-tool %s -p tir-transpose-tiles | filecheck %s
// Four rows are read whole. Six columns are a tile of four, and two that take their lanes one by one.

tir.func @f(%X: memref<4x6xf32>, %Y: memref<6x4xf32>) {
  tir.for %x = 0 to 6 "Y.x" {
    %v = tir.load %X[lane, %x] : memref<4x6xf32>, vector<4xf32>
    tir.store %v, %Y[%x, lane] : memref<6x4xf32>, vector<4xf32>
  }
}

// CHECK-NOT:  tir.for
// CHECK:      %[[A:.*]] = tir.load %X[0, lane] : memref<4x6xf32>, vector<4xf32>
// CHECK-NEXT: %[[B:.*]] = tir.load %X[1, lane] : memref<4x6xf32>, vector<4xf32>
// CHECK-NEXT: %[[C:.*]] = tir.load %X[2, lane] : memref<4x6xf32>, vector<4xf32>
// CHECK-NEXT: %[[D:.*]] = tir.load %X[3, lane] : memref<4x6xf32>, vector<4xf32>
// CHECK-NEXT: %[[E:.*]] = tir.shuffle %[[A]], %[[B]] [0, 4, 2, 6] : vector<4xf32>
// CHECK-NEXT: %[[F:.*]] = tir.shuffle %[[A]], %[[B]] [1, 5, 3, 7] : vector<4xf32>
// CHECK-NEXT: %[[G:.*]] = tir.shuffle %[[C]], %[[D]] [0, 4, 2, 6] : vector<4xf32>
// CHECK-NEXT: %[[H:.*]] = tir.shuffle %[[C]], %[[D]] [1, 5, 3, 7] : vector<4xf32>
// CHECK-NEXT: %[[I:.*]] = tir.shuffle %[[E]], %[[G]] [0, 1, 4, 5] : vector<4xf32>
// CHECK-NEXT: %[[J:.*]] = tir.shuffle %[[E]], %[[G]] [2, 3, 6, 7] : vector<4xf32>
// CHECK-NEXT: %[[K:.*]] = tir.shuffle %[[F]], %[[H]] [0, 1, 4, 5] : vector<4xf32>
// CHECK-NEXT: %[[L:.*]] = tir.shuffle %[[F]], %[[H]] [2, 3, 6, 7] : vector<4xf32>
// CHECK-NEXT: tir.store %[[I]], %Y[0, lane]
// CHECK-NEXT: tir.store %[[K]], %Y[1, lane]
// CHECK-NEXT: tir.store %[[J]], %Y[2, lane]
// CHECK-NEXT: tir.store %[[L]], %Y[3, lane]
// CHECK-NEXT: %{{.*}} = tir.load %X[lane, 4]
// CHECK-NEXT: tir.store %{{.*}}, %Y[4, lane]
// CHECK-NEXT: %{{.*}} = tir.load %X[lane, 5]
