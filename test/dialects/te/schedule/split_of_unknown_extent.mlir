// RUN: opt-tool %s -p te-to-tir | filecheck %s

// CHECK:      tir.func @vadd(%n: index, %A: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %B: memref<?xf32> {{.*}}, %C_out: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>})
// CHECK-NEXT:   tir.for %io = 0 to min [(%n + 63) floordiv 64] "C.i.0" {
// CHECK-NEXT:     tir.for %ii = 0 to 64 min [%n + %io * -64] "C.i.1" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%ii + %io * 64] : memref<?xf32>
te.func @vadd(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %B: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %C = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    %b = te.read %B[%i] : tensor<?xf32>
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  }
  te.return %C : tensor<?xf32>
}
te.schedule @vadd {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 64]
}
