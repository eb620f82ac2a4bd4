// RUN: opt-tool %s -p te-to-tir | filecheck %s

// CHECK-LABEL: tir.func @f
te.func @f(%X: tensor<4x8xf32>, %Y: tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: tir.block "m" init {
  // CHECK-NEXT: arith.constant 0xff800000 : f32
  // CHECK: arith.maximumf
  %m = te.compute "m" [4] max [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  }
  // CHECK: tir.block "n" init {
  // CHECK-NEXT: arith.constant 2147483647 : i32
  // CHECK: arith.minsi
  %n = te.compute "n" [4] min [8] (%i, %k) : tensor<4xi32> {
    %y = te.read %Y[%i, %k] : tensor<4x8xi32>
    te.yield %y : i32
  }
  te.return %m, %n : tensor<4xf32>, tensor<4xi32>
}
