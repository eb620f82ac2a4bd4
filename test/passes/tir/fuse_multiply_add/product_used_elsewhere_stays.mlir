// RUN: opt-tool %s -p tir-fuse-multiply-add | filecheck %s
// A product with a second use, one from another block, a difference, and 16-bit floats.

tir.func @twice(%x: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<2xf32>
  %p = arith.mulf %a, %a : f32
  %s = arith.addf %a, %p : f32
  tir.store %s, %y[0] : memref<2xf32>
  tir.store %p, %y[1] : memref<2xf32>
}
tir.func @outside(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<4xf32>
  %p = arith.mulf %a, %a : f32
  tir.for %i = 0 to 4 "y.i" {
    %b = tir.load %x[%i] : memref<4xf32>
    %s = arith.addf %b, %p : f32
    tir.store %s, %y[%i] : memref<4xf32>
  }
}
tir.func @difference(%x: memref<2xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<2xf32>
  %p = arith.mulf %a, %a : f32
  %s = arith.subf %p, %a : f32
  tir.store %s, %y[0] : memref<1xf32>
}
tir.func @narrow(%x: memref<1xf16>, %y: memref<1xf16>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<1xf16>
  %p = arith.mulf %a, %a : f16
  %s = arith.addf %p, %a : f16
  tir.store %s, %y[0] : memref<1xf16>
}

// CHECK-LABEL: tir.func @twice(%x: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[0] : memref<2xf32>
// CHECK-NEXT:   %p = arith.mulf %a, %a : f32
// CHECK-NEXT:   %s = arith.addf %a, %p : f32
// CHECK-NEXT:   tir.store %s, %y[0] : memref<2xf32>
// CHECK-NEXT:   tir.store %p, %y[1] : memref<2xf32>
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @outside(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[0] : memref<4xf32>
// CHECK-NEXT:   %p = arith.mulf %a, %a : f32
// CHECK-NEXT:   tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:     %b = tir.load %x[%i] : memref<4xf32>
// CHECK-NEXT:     %s = arith.addf %b, %p : f32
// CHECK-NEXT:     tir.store %s, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @difference(%x: memref<2xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[0] : memref<2xf32>
// CHECK-NEXT:   %p = arith.mulf %a, %a : f32
// CHECK-NEXT:   %s = arith.subf %p, %a : f32
// CHECK-NEXT:   tir.store %s, %y[0] : memref<1xf32>
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @narrow(%x: memref<1xf16>, %y: memref<1xf16>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[0] : memref<1xf16>
// CHECK-NEXT:   %p = arith.mulf %a, %a : f16
// CHECK-NEXT:   %s = arith.addf %p, %a : f16
// CHECK-NEXT:   tir.store %s, %y[0] : memref<1xf16>
// CHECK-NEXT: }
