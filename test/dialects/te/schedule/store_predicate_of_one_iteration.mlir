// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A condition that the only iteration fulfils leaves nothing out.

te.func @f(%A: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %c = te.compute "C" [1, 8] (%i, %j) : tensor<1x8xf32> {
    %x = te.read %A[%i, %j] : tensor<1x8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<1x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.store_predicate "C" where [%i == 0]
}
// CHECK: tir.block "C" where [%i == 0] {
