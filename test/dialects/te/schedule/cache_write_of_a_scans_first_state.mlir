// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The first state is one row of the scan's four; its buffer holds no more.

te.func @f(%X: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %first = te.compute "first" [1, 3] (%t, %i) : tensor<1x3xf32> {
    %x = te.read %X[%t, %i] : tensor<4x3xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [4] (%t) (%state = %first) : (tensor<1x3xf32>) -> tensor<4x3xf32> {
    %next = te.compute "next" [3] (%i) : tensor<3xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<4x3xf32>
      %x = te.read %X[%t, %i] : tensor<4x3xf32>
      %sum = arith.addf %before, %x : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<3xf32>
  }
  te.return %s : tensor<4x3xf32>
}
te.schedule @f {
  te.cache_write "first" scope "local"
  %t, %i = te.cache_read "first" in "first.out" scope "global" [2]
}
// CHECK:      %first_local = tir.alloc "first.local" scope "local" : memref<1x3xf32>
// CHECK:      %first_global = tir.alloc "first.global" scope "global" : memref<1x3xf32>
