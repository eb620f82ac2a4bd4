// RUN: opt-tool %s -p te-to-tir | filecheck %s
// B and its buffer leave the block, which goes with them.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  te.blockize %i "B_o"
  te.cache_write "B" scope "local"
  te.compute_inline "B.out"
  %x = te.loops "C" [1]
  %t = te.compute_at "B" at %x [1]
}
// CHECK:      tir.func @f
// CHECK-NEXT:   tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:     %B_local = tir.alloc
