// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A transpose moves elements, of two unknown extents and of one beside a number, and of a square, whose extents are the
// same; so does what reads rows backwards, or the halves of a row by turns.

te.func @turn(%m: index, %n: index, %X: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) -> tensor<?x?xf32> {
  %y = te.compute "y" [%n, %m] (%i, %j) : tensor<?x?xf32> {
    %x = te.read %X[%j, %i] : tensor<?x?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x?xf32>
}
te.func @square(%m: index, %X: tensor<?x?xf32> {te.shape = #te.map<(d0) -> (d0, d0)>}) -> tensor<?x?xf32> {
  %y = te.compute "y" [%m, %m] (%i, %j) : tensor<?x?xf32> {
    %x = te.read %X[%j, %i] : tensor<?x?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x?xf32>
}
te.func @rows(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}) -> tensor<4x?xf32> {
  %y = te.compute "y" [4, %n] (%i, %j) : tensor<4x?xf32> {
    %x = te.read %X[%j, %i] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4x?xf32>
}
te.func @columns(%n: index, %X: tensor<4x?xf32> {te.shape = #te.map<(d0) -> (4, d0)>}) -> tensor<1x?x4xf32> {
  %y = te.compute "y" [1, %n, 4] (%h, %i, %j) : tensor<1x?x4xf32> {
    %x = te.read %X[%j, %i] : tensor<4x?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<1x?x4xf32>
}
te.func @backwards(%n: index, %X: tensor<1x?x4xf32> {te.shape = #te.map<(d0) -> (1, d0, 4)>}) -> tensor<?x4xf32> {
  %y = te.compute "y" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %x = te.read %X[0, %n - %i - 1, %j] : tensor<1x?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x4xf32>
}
te.func @by_turns(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}) -> tensor<?x2x2xf32> {
  %y = te.compute "y" [%n, 2, 2] (%i, %j, %k) : tensor<?x2x2xf32> {
    %x = te.read %X[%i, %j + %k * 2] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x2x2xf32>
}

// CHECK:      func.func @main
// CHECK:        tir.call @turn(%m, %n, %x,
// CHECK:        tir.call @turn(%n, %m,
// CHECK:        tir.call @square(%m, %s,
// CHECK:        tir.call @square(%m,
// CHECK:        tir.call @rows(
// CHECK:        tir.call @columns(
// CHECK:        tir.call @backwards(
// CHECK:        tir.call @by_turns(
func.func @main(%m: index, %n: index, %x: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>},
    %s: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d0)>},
    %z: tensor<?x4xf32> {te.shape = #te.map<(d0, d1) -> (d1, 4)>})
    -> (tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>},
        tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d0)>},
        tensor<?x2x2xf32> {te.shape = #te.map<(d0, d1) -> (d1, 2, 2)>}) {
  %0 = te.call @turn(%m, %n, %x) : (index, index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = te.call @turn(%n, %m, %0) : (index, index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = te.call @square(%m, %s) : (index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = te.call @square(%m, %2) : (index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = te.call @rows(%n, %z) : (index, tensor<?x4xf32>) -> tensor<4x?xf32>
  %5 = te.call @columns(%n, %4) : (index, tensor<4x?xf32>) -> tensor<1x?x4xf32>
  %6 = te.call @backwards(%n, %5) : (index, tensor<1x?x4xf32>) -> tensor<?x4xf32>
  %7 = te.call @by_turns(%n, %6) : (index, tensor<?x4xf32>) -> tensor<?x2x2xf32>
  func.return %1, %3, %7 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x2x2xf32>
}
