// RUN: opt-tool %s -p te-open-space | filecheck %s
// A loop over what is in registers stays unrolled: they would be memory. The loop over k is a matter of taste.

te.func @f(%A: tensor<8x32xf32>, %B: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %c = te.compute "C" [8, 16] sum [32] (%i, %j, %k) : tensor<8x16xf32> {
    %a = te.read %A[%i, %k] : tensor<8x32xf32>
    %b = te.read %B[%k, %j] : tensor<32x16xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<8x16xf32>
}
te.schedule @f {
  te.cache_write "C" scope "register"
  %i, %j = te.loops "C.out" [2]
  %io, %ii = te.split %i [-1, 4]
  %x, %y, %k = te.compute_at "C" at %io [3]
  te.reorder %k, %x, %y
  %ko, %ki = te.split %k [-1, 4]
  te.unroll %ki
  te.unroll %x
  te.unroll %ii
  te.vectorize %y
  te.vectorize %j
}
// CHECK:      te.sample_annotation %ki ["none", "unroll"] knob "ki" decision 1
// CHECK-NEXT: te.unroll %x
// CHECK-NEXT: te.unroll %ii
