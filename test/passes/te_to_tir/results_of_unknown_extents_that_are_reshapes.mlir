// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A kernel writes the result that is a reshape of what it gives. What is returned in both shapes, and an argument that is
// returned in another one, are copied: each result has memory of its own. A second result is no reshape either.

te.func @rows(%n: index, %X: tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>}) -> tensor<?x4xf32> {
  %y = te.compute "y" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %x = te.read %X[%i, %j floordiv 2, %j mod 2] : tensor<?x2x2xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x4xf32>
}
te.func @both(%n: index, %X: tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>}) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %y = te.compute "y" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %x = te.read %X[%i, %j floordiv 2, %j mod 2] : tensor<?x2x2xf32>
    te.yield %x : f32
  }
  te.return %y, %y : tensor<?x4xf32>, tensor<?x4xf32>
}
te.func @twice(%n: index, %X: tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>}) -> tensor<?x2x2xf32> {
  %y = te.compute "y" [%n, 2, 2] (%i, %j, %k) : tensor<?x2x2xf32> {
    %x = te.read %X[%i, %j, %k] : tensor<?x2x2xf32>
    %t = arith.addf %x, %x : f32
    te.yield %t : f32
  }
  te.return %y : tensor<?x2x2xf32>
}

// CHECK:      func.func @main(%n: index, %x: memref<?x2x2xf32> {{.*}}, %0: memref<?x4xf32> {{.*}}, %1: memref<?x2x2xf32> {{.*}}, %2: memref<?x4xf32> {{.*}}, %3: memref<?x4xf32> {{.*}}, %4: memref<?x4xf32> {{.*}}, %5: memref<?x4xf32> {{.*}})
// CHECK-NEXT:   tir.call @twice(%n, %x, %0) : index, memref<?x2x2xf32>, memref<?x4xf32>
// CHECK-NEXT:   tir.call @twice(%n, %x, %1) : index, memref<?x2x2xf32>, memref<?x2x2xf32>
// CHECK-NEXT:   tir.call @rows(%n, %1, %2) : index, memref<?x2x2xf32>, memref<?x4xf32>
// CHECK-NEXT:   tir.call @rows(%n, %x, %3) : index, memref<?x2x2xf32>, memref<?x4xf32>
// CHECK-NEXT:   tir.call @both(%n, %1, %4, %5) : index, memref<?x2x2xf32>, memref<?x4xf32>, memref<?x4xf32>
// CHECK-NEXT:   func.return
func.func @main(%n: index, %x: tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>})
    -> (tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}, tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>},
        tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}, tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>},
        tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}, tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}) {
  %a = te.call @twice(%n, %x) : (index, tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %0 = te.call @rows(%n, %a) : (index, tensor<?x2x2xf32>) -> tensor<?x4xf32>
  %1 = te.call @twice(%n, %x) : (index, tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  %2 = te.call @rows(%n, %1) : (index, tensor<?x2x2xf32>) -> tensor<?x4xf32>
  %3 = te.call @rows(%n, %x) : (index, tensor<?x2x2xf32>) -> tensor<?x4xf32>
  %4, %5 = te.call @both(%n, %1) : (index, tensor<?x2x2xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  func.return %0, %1, %2, %3, %4, %5 : tensor<?x4xf32>, tensor<?x2x2xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
