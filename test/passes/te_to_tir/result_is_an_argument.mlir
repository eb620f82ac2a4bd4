// RUN: opt-tool %s -p te-to-tir | filecheck %s
// What is returned without being computed is copied.

// CHECK-LABEL: tir.func @f(%X: memref<4xf32>, %{{.*}}: memref<4xf32>)
// CHECK-NEXT: tir.for %i0 = 0 to 4 "copy.i0" {
// CHECK-NEXT:   tir.block "copy" {
// CHECK-NEXT:     [[V:%.*]] = tir.load %X[%i0] : memref<4xf32>
// CHECK-NEXT:     tir.store [[V]], %{{.*}}[%i0] : memref<4xf32>
te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  te.return %X : tensor<4xf32>
}
