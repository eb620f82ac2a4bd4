// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The copy stands outside of the threads: nothing is left of the condition on them.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %t = te.env_threads "C" ["threadIdx.x"] [2]
  te.store_predicate "C" where [%t == 0]
  te.cache_write "C" scope "global"
}

// CHECK:      tir.block "C" where [%x == 0] {
// CHECK:      tir.for %i = 0 to 8 "C.out.0" {
// CHECK-NEXT:   tir.block "C.out" {
