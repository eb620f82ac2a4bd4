// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A loop keeps any attribute, and so do all blocks of a stage.

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
  te.annotate %i "tiling" = "SSR"
  te.annotate "B" "note" = [1 : i32, "x"]
}

// CHECK:      tir.for %i = 0 to 8 "B.i" {
// CHECK-NEXT:   tir.for %j = 0 to 32 "B.j" {
// CHECK-NEXT:     tir.block "B" attributes {note = [1 : i32, "x"]} {
// CHECK:      tir.for %i = 0 to 8 "C.i" attributes {tiling = "SSR"} {
