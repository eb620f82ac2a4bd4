// RUN: opt-tool %s -p tir-simplify | filecheck %s
// What always holds goes from the predicate; a block that never runs goes with it.

tir.func @f(%n: index, %X: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 64 "y.i" {
    tir.block "y" where [%i < %n, %i <= 63] {
      %x = tir.load %X[%i] where [%n - %i >= 1] : memref<?xf32>
      tir.store %x, %y[%i] : memref<?xf32>
    }
    tir.block "never" where [%i < %n, %i > %n + 3] {
      %x = tir.load %X[%i] : memref<?xf32>
      tir.store %x, %y[%i] : memref<?xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 64 "y.i" {
// CHECK-NEXT:   tir.block "y" where [%n + %i * -1 - 1 >= 0] {
// CHECK-NEXT:     %x = tir.load %X[%i] : memref<?xf32>
// CHECK-NEXT:     tir.store %x, %y[%i] : memref<?xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: }
