// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The decision is the position of the number; it may stand wherever a schedule takes a number.

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
  %v = te.sample_categorical [0, 16, 64] probs [0.25, 0.25, 0.5] decision 1
  te.pragma %i "auto_unroll_max_step" = %v
  te.annotate %j "chosen" = %v
  %y0, %x0, %y1, %x1 = te.tile %i, %j [2, %v]
}

// CHECK: tir.for %io = 0 to 4 "C.i.0" attributes {pragma_auto_unroll_max_step = 16 : i64}
// CHECK: tir.for %jo = 0 to 2 "C.j.0" attributes {chosen = 16 : i64}
// CHECK: tir.for %ji = 0 to 16 "C.j.1"
