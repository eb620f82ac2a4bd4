// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The buffers of a stage of several results shrink together.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %a, %b = te.compute "two" [8] (%i) : tensor<8xf32>, tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %x, %n : f32, f32
  }
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %p = te.read %a[%i] : tensor<8xf32>
    %q = te.read %b[%i] : tensor<8xf32>
    %s = arith.mulf %p, %q : f32
    te.yield %s : f32
  }
  te.return %y : tensor<8xf32>
}
// CHECK:      tir.for %io = 0 to 2 "y.i.0" {
// CHECK-DAG:    %two_v0 = tir.alloc "two.v0" scope "register" : memref<4xf32>
// CHECK-DAG:    %two_v1 = tir.alloc "two.v1" scope "register" : memref<4xf32>
// CHECK:        tir.for %i = 0 to 4 "two.i" {
// CHECK:          tir.store %x, %two_v0[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %n, %two_v1[%i] : memref<4xf32>
te.schedule @f {
  %i = te.loops "y" [1]
  %io, %ii = te.split %i [-1, 4]
  %j = te.compute_at "two" at %io [1]
  te.set_scope "two" "register"
}
