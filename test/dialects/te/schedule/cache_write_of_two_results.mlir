// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Both results are computed into the cache and copied out by one stage.

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
// CHECK:      tir.alloc "two.global.v0" scope "global" : memref<8xf32>
// CHECK:      tir.alloc "two.global.v1" scope "global" : memref<8xf32>
// CHECK:      tir.block "two" {
// CHECK:        tir.store %x, %two_global_v0[%i] : memref<8xf32>
// CHECK-NEXT:   tir.store %n, %two_global_v1[%i] : memref<8xf32>
// CHECK:      tir.block "two.out" {
// CHECK-NEXT:   [[A:%[0-9]+]] = tir.load %two_global_v0[%i] : memref<8xf32>
// CHECK-NEXT:   tir.store [[A]], %two_v0[%i] : memref<8xf32>
// CHECK-NEXT:   [[B:%[0-9]+]] = tir.load %two_global_v1[%i] : memref<8xf32>
// CHECK-NEXT:   tir.store [[B]], %two_v1[%i] : memref<8xf32>
te.schedule @f {
  te.cache_write "two" scope "global"
}
