// RUN: opt-tool %s -p te-to-tir | filecheck %s
// What only gives a tensor another shape is not called: the product reads %x and writes the result as they lie, and the
// function is no more. A transpose moves elements, the first rows are not all, and an argument that is returned has to
// be copied.

te.func @join(%X: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %y = te.compute "y" [6, 4] (%i, %j) : tensor<6x4xf32> {
    %x = te.read %X[%i floordiv 3, %i mod 3, %j] : tensor<2x3x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<6x4xf32>
}
te.func @part(%X: tensor<6x4xf32>) -> tensor<2x12xf32> {
  %y = te.compute "y" [2, 12] (%i, %j) : tensor<2x12xf32> {
    %x = te.read %X[(%i * 12 + %j) floordiv 4, (%i * 12 + %j) mod 4] : tensor<6x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<2x12xf32>
}
te.func @swap(%X: tensor<6x4xf32>) -> tensor<4x6xf32> {
  %y = te.compute "y" [4, 6] (%i, %j) : tensor<4x6xf32> {
    %x = te.read %X[%j, %i] : tensor<6x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4x6xf32>
}
te.func @first(%X: tensor<6x4xf32>) -> tensor<2x4xf32> {
  %y = te.compute "y" [2, 4] (%i, %j) : tensor<2x4xf32> {
    %x = te.read %X[%i, %j] : tensor<6x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<2x4xf32>
}
te.func @twice(%X: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = te.compute "y" [6, 4] (%i, %j) : tensor<6x4xf32> {
    %x = te.read %X[%i, %j] : tensor<6x4xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %y : tensor<6x4xf32>
}
te.schedule @join {
  %i, %j = te.loops "y" [2]
  te.parallel %i
}

// CHECK-NOT:  @join
// CHECK:      tir.func @part
// CHECK:      tir.func @swap
// CHECK:      func.func @main(%x: memref<2x3x4xf32>, %z: memref<6x4xf32>, %0: memref<2x12xf32>, %1: memref<4x6xf32>, %2: memref<2x12xf32>, %3: memref<2x4xf32>)
// CHECK-NEXT:   tir.call @twice(%x, %0) : memref<2x3x4xf32>, memref<2x12xf32>
// CHECK-NEXT:   tir.call @swap(%x, %1) : memref<2x3x4xf32>, memref<4x6xf32>
// CHECK-NEXT:   tir.call @first(%0, %3) : memref<2x12xf32>, memref<2x4xf32>
// CHECK-NEXT:   tir.call @part(%z, %2) : memref<6x4xf32>, memref<2x12xf32>
// CHECK-NEXT:   func.return
func.func @main(%x: tensor<2x3x4xf32>, %z: tensor<6x4xf32>) -> (tensor<2x12xf32>, tensor<4x6xf32>, tensor<2x12xf32>,
    tensor<2x4xf32>) {
  %j = te.call @join(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %t = te.call @twice(%j) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %p = te.call @part(%t) : (tensor<6x4xf32>) -> tensor<2x12xf32>
  %s = te.call @swap(%j) : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %f = te.call @first(%t) : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %q = te.call @part(%z) : (tensor<6x4xf32>) -> tensor<2x12xf32>
  func.return %p, %s, %q, %f : tensor<2x12xf32>, tensor<4x6xf32>, tensor<2x12xf32>, tensor<2x4xf32>
}
