// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A pragma is an attribute of the loop for the pass that acts upon it.

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
  te.pragma %i "auto_unroll_max_step" = 16
  te.pragma %i "unroll_explicit" = 1
  te.pragma %j "loop_partition_hint" = 1
}

// CHECK: tir.for %i = 0 to 8 "C.i" attributes {pragma_auto_unroll_max_step = 16 : i64, pragma_unroll_explicit = 1 : i64} {
// CHECK-NEXT: tir.for %j = 0 to 32 "C.j" attributes {pragma_loop_partition_hint = 1 : i64} {
