// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks,tir-plan-memory | filecheck %s
// A function that returns its argument, whose extents are two sizes.

func.func @main(%n: index, %m: index, %X: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) -> (tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) {
  func.return %X : tensor<?x?xf32>
}

// CHECK-LABEL: tir.func @copy_0(%0: index, %1: index, %2: memref<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}, %3: memref<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i0 = 0 to min [%0] "copy.i0" {
// CHECK-NEXT:     tir.for %i1 = 0 to min [%1] "copy.i1" {
// CHECK:      tir.call @copy_0(%n, %m, %X, %0) : index, index, memref<?x?xf32>, memref<?x?xf32>
