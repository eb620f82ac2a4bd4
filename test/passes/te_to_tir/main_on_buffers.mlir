// RUN: opt-tool %s -p te-to-tir | filecheck %s
// @main's results become trailing arguments with their names; a value that is returned is written in place.

te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] (%i) : tensor<4xf32> {
    %x = te.read %X[%i] : tensor<4xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: {lamina.name = "data"}
// CHECK-SAME: {lamina.name = "result"}
// CHECK-SAME: lamina.outputs = 1 : i64
func.func @main(%a: tensor<4xf32> {lamina.name = "data"}) -> (tensor<4xf32> {lamina.name = "result"}) {
  // CHECK: %t = tir.alloc "f" scope "global" : memref<4xf32>
  // CHECK-NEXT: tir.call @f(%a, %t) : memref<4xf32>, memref<4xf32>
  %t = te.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: tir.call @f(%t, %{{.*}}) : memref<4xf32>, memref<4xf32>
  %r = te.call @f(%t) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return
  func.return %r : tensor<4xf32>
}
