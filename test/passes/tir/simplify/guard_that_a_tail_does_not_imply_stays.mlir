// RUN: opt-tool %s -p tir-simplify | filecheck %s
// One element further, and the loop of whole tiles reaches beyond n.

tir.func @f(%n: index, %X: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %io = 0 to min [(%n + 63) floordiv 64] "y.io" {
    tir.for %ii = 0 to 64 "y.ii" {
      tir.if [%n - %io * 64 - %ii >= 1] {
        %x = tir.load %X[%io * 64 + %ii + 1] where [%io * 64 + %ii + 1 < %n] : memref<?xf32>
        tir.store %x, %y[%io * 64 + %ii] : memref<?xf32>
      }
    }
  }
}

// CHECK:      tir.for %io = 0 to min [(%n + 63) floordiv 64] "y.io" {
// CHECK-NEXT:   tir.for %ii = 0 to 64 "y.ii" {
// CHECK-NEXT:     tir.if [%n + %io * -64 + %ii * -1 - 1 >= 0] {
// CHECK-NEXT:       %x = tir.load %X[%io * 64 + %ii + 1] where [%n + %io * -64 + %ii * -1 - 2 >= 0] : memref<?xf32>
// CHECK-NEXT:       tir.store %x, %y[%io * 64 + %ii] : memref<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
