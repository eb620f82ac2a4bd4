// RUN: opt-tool %s -p tir-plan-memory | filecheck %s

tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
}

func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<64xf32>, memref<64xf32>
  func.return
}

// CHECK-LABEL: tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {lamina.outputs = 1 : i64} {
// CHECK-NEXT:   tir.call @f(%x, %y) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
