// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Two stages in one loop read the same copy.

te.func @f(%A: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %b = te.compute "B" [4, 16] (%i, %j) : tensor<4x16xf32> {
    %x = te.read %A[%i, %j] : tensor<4x16xf32>
    %e = math.exp %x : f32
    te.yield %e : f32
  }
  %c = te.compute "C" [4, 16] (%i, %j) : tensor<4x16xf32> {
    %y = te.read %b[%i, %j] : tensor<4x16xf32>
    %x = te.read %A[%i, %j] : tensor<4x16xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<4x16xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %bi, %bj = te.compute_at "B" at %i [2]
  %t = te.cache_read "A" in ["B", "C"] at %i scope "local" [1]
}

// CHECK:      tir.for %i = 0 to 4 "C.i" {
// CHECK:        tir.block "A.local" {
// CHECK-NEXT:     tir.load %A[%i, %{{.*}}]
// CHECK:        tir.block "B" {
// CHECK-NEXT:     tir.load %A_local[
// CHECK:        tir.block "C" {
// CHECK:          tir.load %A_local[
