// RUN: opt-tool %s -p tir-expand-math --verify-roundtrip && opt-tool %s -p tir-expand-math | filecheck %s

// CHECK-LABEL: tir.func @f
// CHECK-NOT: math.exp2
// CHECK: %[[L:.*]] = arith.constant -1.510000e+02 : f32
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %a, %[[L]] : f32
// CHECK: %[[MAGIC:.*]] = arith.constant 0x4B400000 : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %{{.*}}, %[[MAGIC]] : f32
// CHECK-NEXT: arith.subf %[[S]], %[[MAGIC]] : f32
// CHECK: math.fma
// CHECK: %[[B:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: arith.shrsi %[[B]], %[[ONE]] : i32
// CHECK: %b = arith.mulf
// CHECK-NEXT: tir.store %b
tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %a = tir.load %x[%i] : memref<4xf32>
    %b = math.exp2 %a : f32
    tir.store %b, %y[%i] : memref<4xf32>
  }
}
