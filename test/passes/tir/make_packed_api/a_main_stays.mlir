// RUN: opt-tool %s -p tir-make-packed-api | filecheck %s

// CHECK-NOT: lamina.packed
tir.func @f(%A: memref<4xf32>, %B: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.copy %A to %B : memref<4xf32>, memref<4xf32>
}
// CHECK: func.func @main
func.func @main(%A: memref<4xf32>, %B: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%A, %B) : memref<4xf32>, memref<4xf32>
  func.return
}
