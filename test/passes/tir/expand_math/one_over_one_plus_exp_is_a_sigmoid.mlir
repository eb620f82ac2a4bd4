// RUN: opt-tool %s -p tir-expand-math --verify-roundtrip && opt-tool %s -p tir-expand-math | filecheck %s
// The sum is taken of parts of the exponential, and rounded once; an exponential that is read elsewhere is itself.
// So is one in a sum with another number than one, and under another number.

// CHECK-LABEL: tir.func @sigmoid
// CHECK:         %[[T:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-NEXT:    %[[Q:.*]] = arith.divf %{{.*}}, %[[T]] : vector<16xf32>
// CHECK-NEXT:    %d = arith.mulf %[[Q]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:    tir.store %d
tir.func @sigmoid(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
  %b = math.exp %a : vector<16xf32>
  %c = arith.addf %one, %b : vector<16xf32>
  %d = arith.divf %one, %c : vector<16xf32>
  tir.store %d, %y[lane] : memref<16xf32>, vector<16xf32>
}

// CHECK-LABEL: tir.func @twice
// CHECK:         %c = arith.addf %one, %b : vector<16xf32>
// CHECK-NEXT:    %d = arith.divf %one, %c : vector<16xf32>
// CHECK-NEXT:    %e = arith.mulf %d, %b : vector<16xf32>
tir.func @twice(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
  %b = math.exp %a : vector<16xf32>
  %c = arith.addf %one, %b : vector<16xf32>
  %d = arith.divf %one, %c : vector<16xf32>
  %e = arith.mulf %d, %b : vector<16xf32>
  tir.store %e, %y[lane] : memref<16xf32>, vector<16xf32>
}

// CHECK-LABEL: tir.func @two
// CHECK:         %c = arith.addf %two, %b : vector<16xf32>
// CHECK-NEXT:    %d = arith.divf %one, %c : vector<16xf32>
tir.func @two(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %two = arith.constant dense<2.0> : vector<16xf32>
  %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
  %b = math.exp %a : vector<16xf32>
  %c = arith.addf %two, %b : vector<16xf32>
  %d = arith.divf %one, %c : vector<16xf32>
  tir.store %d, %y[lane] : memref<16xf32>, vector<16xf32>
}

// CHECK-LABEL: tir.func @half
// CHECK:         %c = arith.addf %one, %b : vector<16xf32>
// CHECK-NEXT:    %d = arith.divf %half, %c : vector<16xf32>
tir.func @half(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
  %b = math.exp %a : vector<16xf32>
  %c = arith.addf %one, %b : vector<16xf32>
  %d = arith.divf %half, %c : vector<16xf32>
  tir.store %d, %y[lane] : memref<16xf32>, vector<16xf32>
}
