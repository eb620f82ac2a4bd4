// RUN: opt-tool %s -p tir-inject-virtual-thread | filecheck %s
// What differs by virtual thread runs for both of them in each step; what they share is loaded once.

tir.func @f(%x: memref<2x8xf32>, %w: memref<8xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  tir.for %v = 0 to 2 thread "vthread.x" "y.0" {
    %a = tir.alloc "a" scope "local" : memref<1xf32>
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %a[0] : memref<1xf32>
    tir.for %k = 0 to 8 reduction "y.k" {
      %c = tir.load %w[%k] : memref<8xf32>
      %p = tir.load %x[%v, %k] : memref<2x8xf32>
      %q = arith.mulf %p, %c : f32
      %s = tir.load %a[0] : memref<1xf32>
      %t = arith.addf %s, %q : f32
      tir.store %t, %a[0] : memref<1xf32>
    }
    %r = tir.load %a[0] : memref<1xf32>
    tir.store %r, %y[%v] : memref<2xf32>
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<2x8xf32>, %w: memref<8xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.alloc "a" scope "local" : memref<2x1xf32>
// CHECK-NEXT:   %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   tir.for %v = 0 to 2 unrolled "y.0_1" {
// CHECK-NEXT:     tir.store %zero, %a[%v, 0] : memref<2x1xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %k = 0 to 8 reduction "y.k" {
// CHECK-NEXT:     %c = tir.load %w[%k] : memref<8xf32>
// CHECK-NEXT:     tir.for %v = 0 to 2 unrolled "y.0_2" {
// CHECK-NEXT:       %p = tir.load %x[%v, %k] : memref<2x8xf32>
// CHECK-NEXT:       %q = arith.mulf %p, %c : f32
// CHECK-NEXT:       %s = tir.load %a[%v, 0] : memref<2x1xf32>
// CHECK-NEXT:       %t = arith.addf %s, %q : f32
// CHECK-NEXT:       tir.store %t, %a[%v, 0] : memref<2x1xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %v = 0 to 2 unrolled "y.0_3" {
// CHECK-NEXT:     %r = tir.load %a[%v, 0] : memref<2x1xf32>
// CHECK-NEXT:     tir.store %r, %y[%v] : memref<2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
