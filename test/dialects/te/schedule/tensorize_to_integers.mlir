// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Of floats an intrinsic may make integers: these are compared bit by bit.

// CHECK: tir.for %i = 0 to 3 "C.i" {
// CHECK:   tir.for %k = 0 to 8 "C.k_1" {
// CHECK:     arith.extui %{{.*}} : i1 to i32
te.tensor_intrin @positive {
  te.func @desc(%a: tensor<8xf32>) -> tensor<i32> {
    %c = te.compute "c" [] sum [8] (%k) : tensor<i32> {
      %x = te.read %a[%k] : tensor<8xf32>
      %zero = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %x, %zero : f32
      %n = arith.extui %p : i1 to i32
      te.yield %n : i32
    }
    te.return %c : tensor<i32>
  }
  tir.func @body(%a: memref<8xf32>, %c: memref<i32>) {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    tir.store %none, %c[] : memref<i32>
    tir.for %k = 0 to 8 "k" {
      %x = tir.load %a[%k] : memref<8xf32>
      %p = arith.cmpf ogt, %x, %zero : f32
      %n = arith.extui %p : i1 to i32
      %acc = tir.load %c[] : memref<i32>
      %t = arith.addi %acc, %n : i32
      tir.store %t, %c[] : memref<i32>
    }
  }
}
te.func @f(%A: tensor<3x8xf32>) -> tensor<3xi32> {
  %C = te.compute "C" [3] sum [8] (%i, %k) : tensor<3xi32> {
    %x = te.read %A[%i, %k] : tensor<3x8xf32>
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %x, %zero : f32
    %n = arith.extui %p : i1 to i32
    te.yield %n : i32
  }
  te.return %C : tensor<3xi32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  te.tensorize %k @positive
}
