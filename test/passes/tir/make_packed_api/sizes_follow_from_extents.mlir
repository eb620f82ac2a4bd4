// RUN: opt-tool %s -p tir-make-packed-api | filecheck %s
// n is an extent of its own, m follows from 2 * m + n once n is known; p stands in no extent.

tir.func @f(%n: index, %m: index, %p: index, %A: memref<?x4xf32> {te.shape = #te.map<(d0, d1, d2) -> (d1 * 2 + d0, 4)>}, %B: memref<?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to min [%n] "B.i" {
    %a = tir.load %A[%i, 0] : memref<?x4xf32>
    tir.store %a, %B[%i] : memref<?xf32>
  }
}

// CHECK:      lamina.packed = {name = "f", order = [0 : i64, 1 : i64],
// CHECK-SAME: sizes = [{name = "n", argument = 1 : i64, axis = 0 : i64}, {name = "m", argument = 0 : i64, axis = 0 : i64}, {name = "p"}],
// CHECK-SAME: arguments = [{name = "A", type = memref<?x4xf32>, te.shape = #te.map<(d0, d1, d2) -> (d1 * 2 + d0, 4)>}, {name = "B", type = memref<?xf32>, te.shape = #te.map<(d0, d1, d2) -> (d0)>, output}]
// CHECK:      func.func @main(%n: index {lamina.name = "n"}
// CHECK-NEXT:   tir.call @f(%n, %m, %p, %A, %B)
