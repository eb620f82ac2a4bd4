// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// Sizes are multiples of %n, in lines of 64 bytes for each: the third buffer lies where the first has been. What is a
// multiple of %n * %n, in whatever order, is in an arena of its own; a line for each element would be eight times as much
// there as is needed.

tir.func @f(%n: index, %x: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}, %y: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to min [%n] "y.i" {
    tir.for %j = 0 to 16 "y.j" {
      %v = tir.load %x[%i, 15 - %j] : memref<?x16xf32>
      tir.store %v, %y[%i, %j] : memref<?x16xf32>
    }
  }
}
tir.func @g(%n: index, %x: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}, %y: memref<?x?x2xf32> {te.shape = #te.map<(d0) -> (d0, d0, 2)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to min [%n] "y.i" {
    tir.for %j = 0 to min [%n] "y.j" {
      tir.for %k = 0 to 2 "y.k" {
        %v = tir.load %x[%i, %k] : memref<?x16xf32>
        tir.store %v, %y[%i, %j, %k] : memref<?x?x2xf32>
      }
    }
  }
}

func.func @main(%n: index, %x: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}, %y: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}) attributes {lamina.outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" [%n, 16] : memref<?x16xf32>
  %b = tir.alloc "b" scope "global" [%n * 2, 16] : memref<?x16xf32>
  %c = tir.alloc "c" scope "global" [%n, 16] : memref<?x16xf32>
  %d = tir.alloc "d" scope "global" [%n, %n, 2] : memref<?x?x2xf32>
  tir.call @f(%n, %x, %a) : index, memref<?x16xf32>, memref<?x16xf32>
  tir.call @f(%n, %a, %b) : index, memref<?x16xf32>, memref<?x16xf32>
  tir.call @f(%n, %b, %c) : index, memref<?x16xf32>, memref<?x16xf32>
  tir.call @g(%n, %c, %d) : index, memref<?x16xf32>, memref<?x?x2xf32>
  tir.call @f(%n, %c, %y) : index, memref<?x16xf32>, memref<?x16xf32>
  func.return
}

// CHECK:      %[[SQUARES:.*]] = tir.alloc "arena" scope "global" [8, %n, %n] : memref<8x?x?xi8>
// CHECK-NEXT: %[[ROWS:.*]] = tir.alloc "arena" scope "global" [192, %n] : memref<192x?xi8>
// CHECK-NEXT: %a = tir.view %[[ROWS]][0] [%n, 16] : memref<192x?xi8> to memref<?x16xf32>
// CHECK-NEXT: %b = tir.view %[[ROWS]][64] [%n * 2, 16] : memref<192x?xi8> to memref<?x16xf32>
// CHECK-NEXT: %c = tir.view %[[ROWS]][0] [%n, 16] : memref<192x?xi8> to memref<?x16xf32>
// CHECK-NEXT: %d = tir.view %[[SQUARES]][0] [%n, %n, 2] : memref<8x?x?xi8> to memref<?x?x2xf32>
