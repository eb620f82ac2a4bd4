// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Two of the last panel's three vectors would have no lane: its loop over vectors ends with the first. Where all three
// have one (of D), it stays.

te.func @f(%A: tensor<100xf32>, %B: tensor<90xf32>) -> (tensor<100xf32>, tensor<90xf32>) {
  %c = te.compute "C" [100] (%i) : tensor<100xf32> {
    %a = te.read %A[%i] : tensor<100xf32>
    te.yield %a : f32
  }
  %d = te.compute "D" [90] (%i) : tensor<90xf32> {
    %b = te.read %B[%i] : tensor<90xf32>
    te.yield %b : f32
  }
  te.return %c, %d : tensor<100xf32>, tensor<90xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %iv, %il = te.split %i [-1, 3, 16]
  te.unroll %iv
  te.partition %io
  %j = te.loops "D" [1]
  %jo, %jv, %jl = te.split %j [-1, 3, 16]
  te.partition %jo
}

// CHECK:      tir.for %i0 = 0 to 2 "C.i.0" {
// CHECK-NEXT:   tir.for %i1 = 0 to 3 unrolled "C.i.1" {
// CHECK:      tir.for %i1 = 0 to 1 unrolled "C.i.1.tail" {
// CHECK-NEXT:   tir.for %i2 = 0 to 4 min [%i1 * -16 + 4] "C.i.2.tail" {
// CHECK:      tir.for %i1 = 0 to 3 "D.i.1.tail" {
