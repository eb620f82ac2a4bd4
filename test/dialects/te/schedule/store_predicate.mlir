// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Of iterations that repeat each other one is enough.

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
  %t, %u = te.env_threads "C" ["threadIdx.x", "threadIdx.y"] [4, 2]
  te.store_predicate "C" where [%t - 3 >= 0, %u == 1]
}

// CHECK: tir.for %y = 0 to 2 thread "threadIdx.y" "C.threadIdx.y" {
// CHECK: tir.block "C" where [%x - 3 >= 0, %y - 1 == 0] {
