// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A row of A in the second cache, spread over the iterations of the loop jo: little by little.

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
  %i, %j = te.loops "B" [2]
  %jo, %ji = te.split %j [-1, 8]
  te.prefetch "A" at %i offset 2 spread %jo locality 2
}

// CHECK: tir.for %i = 0 to 8 "B.i" attributes {prefetch = [{tensor = "A", offset = 2 : i64, spread = "B.j.0", locality = 2 : i64}]} {
