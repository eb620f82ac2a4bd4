// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Threads stand around the whole nest; each would compute all of C.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %a = te.read %A[%i, %j] : tensor<8x32xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %b[%i, %j] : tensor<8x32xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f {
  %t = te.env_threads "C" ["threadIdx.x"] [64]
  te.store_predicate "C" where [%t == 0]
}

// CHECK:      tir.for %x = 0 to 64 thread "threadIdx.x" "C.threadIdx.x" {
// CHECK-NEXT:   tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:     tir.for %j = 0 to 32 "C.j" {
// CHECK-NEXT:       tir.block "C" where [%x == 0] {
