// RUN: opt-tool %s -p te-to-tir | filecheck %s
// There may be no whole tile: the sum starts before all of its pieces.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<1xf32> {
  %c = te.compute "C" [1] sum [%n] (%i, %k) : tensor<1xf32> {
    %a = te.read %A[%k] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<1xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 4]
  te.unroll %ki
  te.partition %ko tails [1]
}

// CHECK:      tir.for %i = 0 to 1 "C.i" {
// CHECK-NEXT:   tir.block "C.init" {
// CHECK:        tir.for %ko = 0 to min [%n floordiv 4] reduction "C.k.0" {
// CHECK-NEXT:     tir.for %ki = 0 to 4 unrolled reduction "C.k.1" {
// CHECK-NEXT:       tir.block "C" {
// CHECK:        tir.for %ko = 0 to 3 min [%n mod 4] reduction "C.k.0.tail" {
// CHECK-NEXT:     tir.for %ki = 0 to 1 unrolled reduction "C.k.1.tail" {
// CHECK-NEXT:       tir.block "C" {
