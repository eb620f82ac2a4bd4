// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Only the primitives of the piece that is chosen are applied; a piece may choose as well.

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
  te.choose knob "way" decision 1 {
    te.parallel %i
  } {
    %jo, %ji = te.split %j [-1, 8]
    te.choose decision 0 {
      te.vectorize %ji
    } {
    }
  }
  te.unroll %i
}

// CHECK:      tir.for %i = 0 to 8 unrolled "C.i" {
// CHECK-NEXT:   tir.for %jo = 0 to 4 "C.j.0" {
// CHECK-NEXT:     tir.for %ji = 0 to 8 vectorized "C.j.1" {
