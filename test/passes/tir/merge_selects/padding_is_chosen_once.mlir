// RUN: opt-tool %s -p tir-merge-selects | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-merge-selects
// The outer condition says what those within say: one choice is left, and a scalar that was chosen is a constant.

tir.func @f(%x: memref<4x16xf32>, %y: memref<6x16xf32>) {
  tir.for %i = 0 to 6 "y.i" {
    %a = tir.load %x[%i - 1, lane] where [%i - 1 >= 0, %i * -1 + 4 >= 0] : memref<4x16xf32>, vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %c = tir.condition [%i - 1 >= 0, %i * -1 + 4 >= 0] : i1
    %b = arith.select %c, %a, %zero : vector<16xf32>
    %s = arith.constant 0.5 : f32
    %none = arith.constant 0.0 : f32
    %d = tir.condition [%i * -1 + 4 >= 0] : i1
    %t = arith.select %d, %s, %none : f32
    %u = tir.broadcast %t : f32 to vector<16xf32>
    %p = arith.mulf %b, %u : vector<16xf32>
    %one = arith.constant dense<1.0> : vector<16xf32>
    %e = tir.condition [%i - 1 >= 0, %i * -1 + 4 >= 0] : i1
    %q = arith.select %e, %p, %one : vector<16xf32>
    tir.store %q, %y[%i, lane] : memref<6x16xf32>, vector<16xf32>
  }
}
// CHECK:      %a = tir.load
// CHECK-NOT:  arith.select
// CHECK-NOT:  tir.broadcast
// CHECK:      %[[S:.*]] = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %p = arith.mulf %a, %[[S]]
// CHECK:      %e = tir.condition
// CHECK-NEXT: %q = arith.select %e, %p, %one
