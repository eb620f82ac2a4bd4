// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Where the place in memory is the same whatever the sizes are, nothing is called: extents of 1 come and go, and numbers
// are merged and split on both sides of what nobody knows, as factors of it, too.

te.func @drop(%m: index, %n: index, %X: tensor<1x12x?x64xf32> {te.shape = #te.map<(d0, d1) -> (1, 12, d0 + d1, 64)>}) -> tensor<12x?x64xf32> {
  %y = te.compute "y" [12, %m + %n, 64] (%i, %j, %k) : tensor<12x?x64xf32> {
    %x = te.read %X[0, %i, %j, %k] : tensor<1x12x?x64xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<12x?x64xf32>
}
te.func @split(%s: index, %t: index, %X: tensor<12x?x64xf32> {te.shape = #te.map<(d0, d1) -> (12, d1 + d0, 64)>}) -> tensor<1x3x4x?x8x8xf32> {
  %y = te.compute "y" [1, 3, 4, %s + %t, 8, 8] (%a, %b, %c, %i, %j, %k) : tensor<1x3x4x?x8x8xf32> {
    %x = te.read %X[%a * 12 + %b * 4 + %c, %i, %j * 8 + %k] : tensor<12x?x64xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<1x3x4x?x8x8xf32>
}
te.func @merge(%m: index, %n: index, %X: tensor<1x3x4x?x8x8xf32> {te.shape = #te.map<(d0, d1) -> (1, 3, 4, d0 + d1, 8, 8)>}) -> tensor<12x?xf32> {
  %y = te.compute "y" [12, %m * 64 + %n * 64] (%i, %j) : tensor<12x?xf32> {
    %x = te.read %X[0, %i floordiv 4, %i mod 4, %j floordiv 64, (%j mod 64) floordiv 8, %j mod 8] : tensor<1x3x4x?x8x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<12x?xf32>
}
te.func @factor(%m: index, %n: index, %X: tensor<12x?xf32> {te.shape = #te.map<(d0, d1) -> (12, d0 * 64 + d1 * 64)>}) -> tensor<12x?x64xf32> {
  %y = te.compute "y" [12, %m + %n, 64] (%i, %j, %k) : tensor<12x?x64xf32> {
    %x = te.read %X[%i, %j * 64 + %k] : tensor<12x?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<12x?x64xf32>
}
te.func @twice(%m: index, %n: index, %X: tensor<12x?x64xf32> {te.shape = #te.map<(d0, d1) -> (12, d0 + d1, 64)>}) -> tensor<12x?x64xf32> {
  %y = te.compute "y" [12, %m + %n, 64] (%i, %j, %k) : tensor<12x?x64xf32> {
    %x = te.read %X[%i, %j, %k] : tensor<12x?x64xf32>
    %t = arith.addf %x, %x : f32
    te.yield %t : f32
  }
  te.return %y : tensor<12x?x64xf32>
}
te.func @two(%m: index, %n: index, %X: tensor<1x?x?xf32> {te.shape = #te.map<(d0, d1) -> (1, d0, d1)>}) -> tensor<?x1x?x1xf32> {
  %y = te.compute "y" [%m, 1, %n, 1] (%i, %j, %k, %l) : tensor<?x1x?x1xf32> {
    %x = te.read %X[0, %i, %k] : tensor<1x?x?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?x1x?x1xf32>
}
te.func @sums(%m: index, %n: index, %X: tensor<?x1x?x1xf32> {te.shape = #te.map<(d0, d1) -> (d0, 1, d1, 1)>}) -> tensor<?xf32> {
  %y = te.compute "y" [%m] sum [%n] (%i, %k) : tensor<?xf32> {
    %x = te.read %X[%i, 0, %k, 0] : tensor<?x1x?x1xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?xf32>
}

// CHECK-NOT:  tir.func @{{drop|split|merge|factor|two}}
// CHECK:      func.func @main
// CHECK-NEXT:   tir.call @twice(%m, %n, %x, %0) : index, index, memref<1x12x?x64xf32>, memref<12x?x64xf32>
// CHECK-NEXT:   tir.call @sums(%m, %n, %z, %1) : index, index, memref<1x?x?xf32>, memref<?xf32>
// CHECK-NEXT:   func.return
func.func @main(%m: index, %n: index, %x: tensor<1x12x?x64xf32> {te.shape = #te.map<(d0, d1) -> (1, 12, d0 + d1, 64)>},
    %z: tensor<1x?x?xf32> {te.shape = #te.map<(d0, d1) -> (1, d0, d1)>})
    -> (tensor<12x?x64xf32> {te.shape = #te.map<(d0, d1) -> (12, d0 + d1, 64)>}, tensor<?xf32> {te.shape = #te.map<(d0, d1) -> (d0)>}) {
  %0 = te.call @drop(%m, %n, %x) : (index, index, tensor<1x12x?x64xf32>) -> tensor<12x?x64xf32>
  %1 = te.call @split(%n, %m, %0) : (index, index, tensor<12x?x64xf32>) -> tensor<1x3x4x?x8x8xf32>
  %2 = te.call @merge(%m, %n, %1) : (index, index, tensor<1x3x4x?x8x8xf32>) -> tensor<12x?xf32>
  %3 = te.call @factor(%m, %n, %2) : (index, index, tensor<12x?xf32>) -> tensor<12x?x64xf32>
  %4 = te.call @twice(%m, %n, %3) : (index, index, tensor<12x?x64xf32>) -> tensor<12x?x64xf32>
  %5 = te.call @two(%m, %n, %z) : (index, index, tensor<1x?x?xf32>) -> tensor<?x1x?x1xf32>
  %6 = te.call @sums(%m, %n, %5) : (index, index, tensor<?x1x?x1xf32>) -> tensor<?xf32>
  func.return %4, %6 : tensor<12x?x64xf32>, tensor<?xf32>
}
