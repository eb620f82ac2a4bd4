// RUN: opt-tool %s -p tir-merge-selects | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-merge-selects
// A choice stays whose condition says more than the outer one, one that others read too, and one in a second operand.

tir.func @f(%x: memref<6x16xf32>, %y: memref<6x16xf32>, %z: memref<6x16xf32>, %w: memref<6x16xf32>) {
  tir.for %i = 0 to 6 "y.i" {
    %a = tir.load %x[%i, lane] : memref<6x16xf32>, vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %one = arith.constant dense<1.0> : vector<16xf32>
    %c = tir.condition [%i - 1 >= 0, %i * -1 + 4 >= 0] : i1
    // CHECK: %b = arith.select %c, %a, %zero
    %b = arith.select %c, %a, %zero : vector<16xf32>
    %p = arith.addf %b, %one : vector<16xf32>
    %d = tir.condition [%i - 1 >= 0] : i1
    // CHECK: %q = arith.select %d, %p, %one
    %q = arith.select %d, %p, %one : vector<16xf32>
    tir.store %q, %y[%i, lane] : memref<6x16xf32>, vector<16xf32>
    %e = tir.condition [%i - 1 >= 0] : i1
    // CHECK: %f = arith.select %e, %a, %zero
    %f = arith.select %e, %a, %zero : vector<16xf32>
    %g = arith.addf %f, %one : vector<16xf32>
    tir.store %g, %z[%i, lane] : memref<6x16xf32>, vector<16xf32>
    // CHECK: %h = arith.select %e, %g, %one
    %h = arith.select %e, %g, %one : vector<16xf32>
    // CHECK: %k = arith.select %d, %one, %h
    %k = arith.select %d, %one, %h : vector<16xf32>
    tir.store %k, %w[%i, lane] : memref<6x16xf32>, vector<16xf32>
  }
}
