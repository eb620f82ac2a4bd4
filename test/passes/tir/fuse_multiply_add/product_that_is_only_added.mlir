// RUN: opt-tool %s -p tir-fuse-multiply-add | filecheck %s
// On either side of the sum, scalars and vectors.

tir.func @f(%x: memref<3xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<3xf32>
  %b = tir.load %x[1] : memref<3xf32>
  %c = tir.load %x[2] : memref<3xf32>
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %c, %p : f32
  tir.store %s, %y[0] : memref<2xf32>
  %q = arith.mulf %a, %c : f32
  %t = arith.addf %q, %b : f32
  tir.store %t, %y[1] : memref<2xf32>
}
tir.func @g(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
  %p = arith.mulf %a, %a : vector<8xf32>
  %s = arith.addf %a, %p : vector<8xf32>
  tir.store %s, %y[lane] : memref<8xf32>, vector<8xf32>
}

// CHECK-LABEL: tir.func @f(%x: memref<3xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[0] : memref<3xf32>
// CHECK-NEXT:   %b = tir.load %x[1] : memref<3xf32>
// CHECK-NEXT:   %c = tir.load %x[2] : memref<3xf32>
// CHECK-NEXT:   %s = math.fma %a, %b, %c : f32
// CHECK-NEXT:   tir.store %s, %y[0] : memref<2xf32>
// CHECK-NEXT:   %t = math.fma %a, %c, %b : f32
// CHECK-NEXT:   tir.store %t, %y[1] : memref<2xf32>
// CHECK-NEXT: }

// CHECK-LABEL: tir.func @g(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %a = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT:   %s = math.fma %a, %a, %a : vector<8xf32>
// CHECK-NEXT:   tir.store %s, %y[lane] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT: }
