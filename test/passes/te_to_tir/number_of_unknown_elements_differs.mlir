// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Each element of @first, @rows and @half lies where it is read, but others, which are not read, may lie behind them;
// @repeat has all of them three times.

te.func @first(%m: index, %n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0, d1) -> (d0 + d1, 4)>}) -> tensor<1x?x4xf32> {
  %y = te.compute "y" [1, %m, 4] (%h, %i, %j) : tensor<1x?x4xf32> {
    %x = te.read %X[%i, %j] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<1x?x4xf32>
}
te.func @rows(%m: index, %n: index, %X: tensor<1x?x4xf32> {te.shape = #te.map<(d0, d1) -> (1, d0, 4)>}) -> tensor<?x4xf32> {
  %y = te.compute "y" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %x = te.read %X[0, %i, %j] : tensor<1x?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x4xf32>
}
te.func @half(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) -> tensor<?x2x2xf32> {
  %y = te.compute "y" [%n, 2, 2] (%i, %j, %k) : tensor<?x2x2xf32> {
    %x = te.read %X[%i, %j * 2 + %k] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x2x2xf32>
}
te.func @repeat(%n: index, %X: tensor<?x2x2xf32> {te.shape = #te.map<(d0) -> (d0, 2, 2)>}) -> tensor<3x?x4xf32> {
  %y = te.compute "y" [3, %n, 4] (%h, %i, %j) : tensor<3x?x4xf32> {
    %x = te.read %X[%i, %j floordiv 2, %j mod 2] : tensor<?x2x2xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<3x?x4xf32>
}

// CHECK:      func.func @main
// CHECK:        tir.call @first(
// CHECK:        tir.call @rows(
// CHECK:        tir.call @half(
// CHECK:        tir.call @repeat(
func.func @main(%m: index, %n: index, %x: tensor<?x4xf32> {te.shape = #te.map<(d0, d1) -> (d0 + d1, 4)>})
    -> (tensor<3x?x4xf32> {te.shape = #te.map<(d0, d1) -> (3, d1, 4)>}) {
  %0 = te.call @first(%m, %n, %x) : (index, index, tensor<?x4xf32>) -> tensor<1x?x4xf32>
  %1 = te.call @rows(%m, %n, %0) : (index, index, tensor<1x?x4xf32>) -> tensor<?x4xf32>
  %2 = te.call @half(%n, %1) : (index, tensor<?x4xf32>) -> tensor<?x2x2xf32>
  %3 = te.call @repeat(%n, %2) : (index, tensor<?x2x2xf32>) -> tensor<3x?x4xf32>
  func.return %3 : tensor<3x?x4xf32>
}
