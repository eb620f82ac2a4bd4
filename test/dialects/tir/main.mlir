// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// @main on buffers: calls, views of an arena, parameters and copies.

tir.func @k(%x: memref<4xf32>, %y: memref<4xf32>) {
  tir.copy %x to %y : memref<4xf32>, memref<4xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  // CHECK-NEXT: %arena = tir.alloc "arena" scope "global" : memref<64xi8>
  %arena = tir.alloc "arena" scope "global" : memref<64xi8>
  // CHECK-NEXT: %t = tir.view %arena[32] : memref<64xi8> to memref<4xf32>
  %t = tir.view %arena[32] : memref<64xi8> to memref<4xf32>
  // CHECK-NEXT: %w = tir.param #relay.param<"w", "00"> : memref<4xf32>
  %w = tir.param #relay.param<"w", "00"> : memref<4xf32>
  // CHECK-NEXT: tir.call @k(%w, %t) : memref<4xf32>, memref<4xf32>
  tir.call @k(%w, %t) : memref<4xf32>, memref<4xf32>
  // CHECK-NEXT: tir.copy %t to %y : memref<4xf32>, memref<4xf32>
  tir.copy %t to %y : memref<4xf32>, memref<4xf32>
  func.return
}
