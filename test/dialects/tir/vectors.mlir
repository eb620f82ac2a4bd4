// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Comparisons, conversions, choices and broadcasts, lane by lane.

// CHECK-LABEL: tir.func @f
tir.func @f(%a: memref<4xf32>, %b: memref<4xi8>, %y: memref<4xf32>) {
  %x = tir.load %a[lane] : memref<4xf32>, vector<4xf32>
  %n = tir.load %b[lane] : memref<4xi8>, vector<4xi8>
  %s = tir.load %a[0] : memref<4xf32>
  // CHECK: %w = tir.cast extsi %n : vector<4xi8> to vector<4xi32>
  %w = tir.cast extsi %n : vector<4xi8> to vector<4xi32>
  // CHECK-NEXT: %r = tir.cast sitofp %w : vector<4xi32> to vector<4xf32>
  %r = tir.cast sitofp %w : vector<4xi32> to vector<4xf32>
  // CHECK-NEXT: %p = tir.compare ogt, %x, %r : vector<4xf32>
  %p = tir.compare ogt, %x, %r : vector<4xf32>
  // CHECK-NEXT: %q = tir.compare slt, %w, %w : vector<4xi32>
  %q = tir.compare slt, %w, %w : vector<4xi32>
  // CHECK-NEXT: %v = tir.broadcast %s : f32 to vector<4xf32>
  %v = tir.broadcast %s : f32 to vector<4xf32>
  // CHECK-NEXT: %z = tir.select %p, %x, %v : vector<4xi1>, vector<4xf32>
  %z = tir.select %p, %x, %v : vector<4xi1>, vector<4xf32>
  tir.store %z, %y[lane] : memref<4xf32>, vector<4xf32>
}
