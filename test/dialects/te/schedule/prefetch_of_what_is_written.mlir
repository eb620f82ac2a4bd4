// RUN: opt-tool %s -p te-to-tir | filecheck %s
// RUN: opt-tool %s | filecheck %s --check-prefix=CHECK-TE
// The result is an argument of the function, called by its number; a stage within is called by its name.

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
  te.prefetch "C" at %i offset 0 write spread %j
  %k, %l = te.loops "B" [2]
  te.prefetch "B" at %k offset 1 write locality 2
}

// CHECK-TE: te.prefetch "C" at %i offset 0 write spread %j
// CHECK-TE: te.prefetch "B" at %k offset 1 write locality 2

// CHECK: tir.for %i = 0 to 8 "B.i" attributes {prefetch = [{tensor = "B", offset = 1 : i64, locality = 2 : i64, write}]} {
// CHECK: tir.for %i = 0 to 8 "C.i" attributes {prefetch = [{tensor = "arg1", offset = 0 : i64, spread = "C.j", write}]} {
