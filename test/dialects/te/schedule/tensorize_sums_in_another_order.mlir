// RUN: opt-tool %s -p te-to-tir | filecheck %s
// An intrinsic may add in another order than the description: how far results may differ grows with them.

// CHECK: tir.for %i = 0 to 3 "C.i" {
// CHECK:   tir.load %A[%i, %{{.*}} * -1 + 63]
te.tensor_intrin @backwards {
  te.func @desc(%a: tensor<64xf32>) -> tensor<f32> {
    %c = te.compute "c" [] sum [64] (%k) : tensor<f32> {
      %x = te.read %a[%k] : tensor<64xf32>
      %large = arith.constant 1048576.0 : f32
      %y = arith.mulf %x, %large : f32
      te.yield %y : f32
    }
    te.return %c : tensor<f32>
  }
  tir.func @body(%a: memref<64xf32>, %c: memref<f32>) {
    %large = arith.constant 1048576.0 : f32
    %none = arith.constant 0.0 : f32
    tir.store %none, %c[] : memref<f32>
    tir.for %k = 0 to 64 "k" {
      %x = tir.load %a[63 - %k] : memref<64xf32>
      %y = arith.mulf %x, %large : f32
      %acc = tir.load %c[] : memref<f32>
      %t = arith.addf %acc, %y : f32
      tir.store %t, %c[] : memref<f32>
    }
  }
}
te.func @f(%A: tensor<3x64xf32>) -> tensor<3xf32> {
  %C = te.compute "C" [3] sum [64] (%i, %k) : tensor<3xf32> {
    %x = te.read %A[%i, %k] : tensor<3x64xf32>
    %large = arith.constant 1048576.0 : f32
    %y = arith.mulf %x, %large : f32
    te.yield %y : f32
  }
  te.return %C : tensor<3xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  te.tensorize %k @backwards
}
