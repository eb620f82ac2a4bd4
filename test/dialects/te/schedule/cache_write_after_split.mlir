// RUN: opt-tool %s -p te-to-tir | filecheck %s

// The stage is put back before its result is copied out.

// CHECK:      tir.for %i = 0 to 8 "C.i" {
// CHECK:        tir.store %a, %C_register[%i] : memref<8xf32>
// CHECK:      tir.for %i = 0 to 8 "C.out.0" {

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [2, 4]
  te.cache_write "C" scope "register"
}
