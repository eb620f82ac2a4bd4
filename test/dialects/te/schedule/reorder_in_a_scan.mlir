// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Where each element needs only itself of earlier times, all its times may run before the next element's.

te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %X[%t, %i] : tensor<6x8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
// CHECK:      tir.for %i = 0 to 8 parallel "next.i" {
// CHECK-NEXT:   tir.for %t = 0 to 5 "s.t" {
te.schedule @f {
  %t, %i = te.loops "next" [2]
  te.reorder %i, %t
  te.parallel %i
}
