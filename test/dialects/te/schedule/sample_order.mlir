// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The decision numbers the loops as they are listed; the results are the loops in their new order.

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
  %i, %j = te.loops "C" [2]
  %jo, %ji = te.split %j [-1, 8]
  %a, %b, %c = te.sample_order %i, %jo, %ji among [[0, 1, 2], [1, 0, 2]] knob "order" decision [1, 0, 2]
  te.parallel %a
}

// CHECK:      tir.for %jo = 0 to 4 parallel "C.j.0" {
// CHECK-NEXT:   tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:     tir.for %ji = 0 to 8 "C.j.1" {
