// RUN: opt-tool %s -p te-to-tir | filecheck %s
// C leaves the threads that repeated it; the condition on them goes, and so do they.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %t = te.env_threads "C" ["threadIdx.x"] [2]
  te.store_predicate "C" where [%t == 0]
  %i = te.loops "B" [1]
  %ci = te.reverse_compute_at "C" at %i [1]
}

// CHECK:      tir.for %i = 0 to 8 "B.i" {
// CHECK:        tir.for %i_1 = 0 to 1 "C.i" {
// CHECK-NEXT:     tir.block "C" {
// CHECK-NOT:  thread
