// RUN: opt-tool %s -p tir-expand-math | filecheck %s

// What is not f32 or narrower, and functions without an expansion, are the C library's.
// CHECK-LABEL: tir.func @f
// CHECK-NEXT: %a = tir.load
// CHECK-NEXT: %b = math.exp %a : f64
// CHECK-NEXT: %c = math.log %b : f64
// CHECK-NEXT: tir.store %c
// CHECK-NEXT: %d = tir.load
// CHECK-NEXT: %e = math.erf %d : vector<4xf64>
// CHECK-NEXT: tir.store %e
// CHECK-NEXT: %g = tir.load
// CHECK-NEXT: %h = math.sin %g : f32
// CHECK-NEXT: %i = math.powf %h, %g : f32
// CHECK-NEXT: tir.store %i
tir.func @f(%x: memref<4xf64>, %z: memref<1xf32>, %y: memref<4xf64>, %w: memref<1xf32>) attributes {outputs = 2 : i64} {
  %a = tir.load %x[0] : memref<4xf64>
  %b = math.exp %a : f64
  %c = math.log %b : f64
  tir.store %c, %y[0] : memref<4xf64>
  %d = tir.load %x[lane] : memref<4xf64>, vector<4xf64>
  %e = math.erf %d : vector<4xf64>
  tir.store %e, %y[lane] : memref<4xf64>, vector<4xf64>
  %g = tir.load %z[0] : memref<1xf32>
  %h = math.sin %g : f32
  %i = math.powf %h, %g : f32
  tir.store %i, %w[0] : memref<1xf32>
}
