// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Each thread runs all steps; an element that one has computed is not changed by the next.

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
  %x = te.env_threads "next" ["threadIdx.x"] [2]
}
// CHECK:      tir.for %x = 0 to 2 thread "threadIdx.x" "next.threadIdx.x" {
// CHECK-NEXT:   tir.for %t = 0 to 3 "s.t" {
