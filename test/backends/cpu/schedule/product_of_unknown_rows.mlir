// RUN: opt-tool %s -p cpu-schedule,te-to-tir | filecheck %s
// Whole tiles of rows have nothing to ask; the rows that are left go in pieces of constant sizes.

module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 2>} {
  te.func @f(%m: index, %A: tensor<?x64xf32> {te.shape = #te.map<(d0) -> (d0, 64)>}, %B: tensor<64x32xf32>) -> tensor<?x32xf32> {
    %C = te.compute "C" [%m, 32] sum [64] (%i, %j, %k) : tensor<?x32xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<?x64xf32>
      %b = te.read %B[%k, %j] : tensor<64x32xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %C : tensor<?x32xf32>
  }
}

// CHECK:      tir.for %j0 = 0 to 2 parallel "C.j.0" {
// CHECK-NEXT:   tir.for %io = 0 to min [%m floordiv 6] "C.i.0" {{.*}}{
// CHECK-NEXT:     %C_register = tir.alloc "C.register" scope "register" : memref<6x16xf32>
// CHECK:          tir.for %ii = 0 to 6 unrolled "C.i.1" {
// CHECK:        tir.for %io = 0 to 1 min [(%m floordiv 3) mod 2] "C.i.0.tail" {
// CHECK:          tir.for %ii = 0 to 3 unrolled "C.i.1.tail" {
