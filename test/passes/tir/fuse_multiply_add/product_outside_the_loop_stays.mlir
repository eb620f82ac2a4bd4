// RUN: opt-tool %s -p tir-fuse-multiply-add | filecheck %s
// What is computed once outside a loop is not computed in each iteration; halves are not fused.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %h: memref<8xf16>) {
  %a = tir.load %x[0] : memref<8xf32>
  %p = arith.mulf %a, %a : f32
  tir.for %i = 0 to 8 "y.i" {
    %b = tir.load %y[%i] : memref<8xf32>
    %s = arith.addf %b, %p : f32
    tir.store %s, %y[%i] : memref<8xf32>
    %c = tir.load %h[%i] : memref<8xf16>
    %q = arith.mulf %c, %c : f16
    %t = arith.addf %c, %q : f16
    tir.store %t, %h[%i] : memref<8xf16>
  }
}
// CHECK-NOT:  math.fma
// CHECK:      %p = arith.mulf %a, %a : f32
// CHECK:      %s = arith.addf %b, %p : f32
// CHECK:      %q = arith.mulf %c, %c : f16
// CHECK-NEXT: %t = arith.addf %c, %q : f16
