// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks,tir-plan-memory | filecheck %s
// A function that returns its argument; another has the name of the kernel already.

te.func @copy_0(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) -> tensor<?x4xf32> {
  te.return %X : tensor<?x4xf32>
}
func.func @main(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) -> (tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) {
  func.return %X : tensor<?x4xf32>
}

// CHECK-LABEL: tir.func @copy_1(%0: index, %1: memref<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}, %2: memref<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i0 = 0 to min [%0 * 2] "copy.i0" {
// CHECK-NEXT:     tir.for %i1 = 0 to 4 "copy.i1" {
// CHECK-NEXT:       %3 = tir.load %1[%i0, %i1] : memref<?x4xf32>
// CHECK-NEXT:       tir.store %3, %2[%i0, %i1] : memref<?x4xf32>
// CHECK:      tir.call @copy_1(%n, %X, %0) : index, memref<?x4xf32>, memref<?x4xf32>
