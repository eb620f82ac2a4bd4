// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The tail of the inner part of the fused loop is a condition of the stage in its normal form.

te.func @f(%n: index, %A: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}) -> tensor<?x4xf32> {
  %c = te.compute "C" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %x = te.read %A[%i, %j] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<?x4xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %f = te.fuse %i, %j
  %fo, %fi = te.split %f [-1, 3]
  te.cache_write "C" scope "local"
}
// CHECK:      %C_local = tir.alloc "C.local" scope "local" [%n, 4] : memref<?x4xf32>
// CHECK-NEXT: tir.for %[[i:.*]] = 0 to min [%n] "C.0" {
// CHECK-NEXT:   tir.for %[[j:.*]] = 0 to 4 "C.1" {
// CHECK-NEXT:     tir.block "C" {
