// RUN: opt-tool %s -p tir-expand-math | filecheck %s

// Constants are made in the block that needs them, before the first use: a kernel is cut at its parallel loops.
// CHECK-LABEL: tir.func @f
// CHECK: tir.for %i
// CHECK: arith.constant 0x4B400000 : f32
// CHECK: %b = arith.mulf
// CHECK-NOT: arith.constant
// CHECK: %c = arith.mulf
// CHECK: tir.for %j
// CHECK: arith.constant 0x4B400000 : f32
// CHECK: %e = arith.mulf
tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %a = tir.load %x[%i] : memref<4xf32>
    %b = math.exp2 %a : f32
    %c = math.exp2 %b : f32
    tir.store %c, %y[%i] : memref<4xf32>
  }
  tir.for %j = 0 to 4 parallel "y.j" {
    %d = tir.load %y[%j] : memref<4xf32>
    %e = math.exp2 %d : f32
    tir.store %e, %y[%j] : memref<4xf32>
  }
}
