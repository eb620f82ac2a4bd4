// RUN: opt-tool %s -p tir-transpose-tiles | filecheck %s
// Channels beyond the last one are zeros: which rows are read is known where the block is, and a condition elsewhere.
// A loop that ends early stays beside its tiles.

tir.func @f(%X: memref<7x9xf32>, %n: index, %Y: memref<2x9x4xf32>) {
  tir.for %k = 0 to 2 "Y.k" {
    tir.for %x = 0 to 8 min [%n] "Y.x" {
      %v = tir.load %X[%k * 4 + lane, %x] where [6 - %k * 4 - lane >= 0] : memref<7x9xf32>, vector<4xf32>
      tir.store %v, %Y[%k, %x, lane] : memref<2x9x4xf32>, vector<4xf32>
    }
  }
}

// CHECK:      tir.if [%n - 8 >= 0] {
// CHECK-NEXT:   tir.for %x = 0 to 2 "Y.x.tile" {
// CHECK-NEXT:     %{{.*}} = tir.load %X[%k * 4, %x * 4 + lane] : memref<7x9xf32>, vector<4xf32>
// CHECK-NEXT:     %{{.*}} = tir.load %X[%k * 4 + 1, %x * 4 + lane] : memref<7x9xf32>, vector<4xf32>
// CHECK-NEXT:     %{{.*}} = tir.load %X[%k * 4 + 2, %x * 4 + lane] : memref<7x9xf32>, vector<4xf32>
// CHECK-NEXT:     %{{.*}} = tir.load %X[%k * 4 + 3, %x * 4 + lane] where [%k * -4 + 3 >= 0] : memref<7x9xf32>, vector<4xf32>
// CHECK-NEXT:     %{{.*}} = tir.shuffle
// CHECK:        tir.store %{{.*}}, %Y[%k, %x * 4 + 3, lane]
// CHECK:      tir.if [%n * -1 + 7 >= 0] {
// CHECK-NEXT:   tir.for %x = 0 to 8 min [%n] "Y.x" {
// CHECK-NEXT:     %v = tir.load %X[%k * 4 + lane, %x] where [%k * -4 + lane * -1 + 6 >= 0]
