// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// One for each type.

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {lamina.outputs = 2 : i64} {
  tir.copy %x to %y : memref<4xf32>, memref<4xf32>
  tir.copy %x to %z : memref<4xf32>, memref<4xf32>
  func.return
}

// CHECK-LABEL: tir.func @copy_0(%0: memref<4xf32>, %1: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i0 = 0 to 4 "copy.i0" {
// CHECK-NEXT:     %2 = tir.load %0[%i0] : memref<4xf32>
// CHECK-NEXT:     tir.store %2, %1[%i0] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) attributes {lamina.outputs = 2 : i64} {
// CHECK-NEXT:   tir.call @copy_0(%x, %y) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   tir.call @copy_0(%x, %z) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
