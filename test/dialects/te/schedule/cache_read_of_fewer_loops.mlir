// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The copy is of 2 x 4 elements, and one loop is named: it is both of them. So a tile may be of any size.

te.func @f(%A: tensor<4x8xf32>) -> tensor<32xf32> {
  %c = te.compute "C" [32] (%i) : tensor<32xf32> {
    %a = te.read %A[%i floordiv 8, %i mod 8] : tensor<4x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<32xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %o, %p = te.split %i [-1, 16]
  %t = te.cache_read "A" in "C" at %o scope "register" [1]
  %to, %ti = te.split %t [-1, 8]
  te.unroll %to
  te.vectorize %ti
}
// CHECK:      %A_register = tir.alloc "A.register" scope "register" : memref<2x8xf32>
// CHECK-NEXT: tir.for %A0_A1o = 0 to 2 unrolled "A.register.0+A.register.1.0" {
// CHECK-NEXT:   tir.for %A0_A1i = 0 to 8 vectorized "A.register.0+A.register.1.1" {
// CHECK-NEXT:     tir.block "A.register" {
// CHECK-NEXT:       %[[a:.*]] = tir.load %A[%io * 2 + %A0_A1o, %A0_A1i] : memref<4x8xf32>
// CHECK-NEXT:       tir.store %[[a]], %A_register[%A0_A1o, %A0_A1i] : memref<2x8xf32>
