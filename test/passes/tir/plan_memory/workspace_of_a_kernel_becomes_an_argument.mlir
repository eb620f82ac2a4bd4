// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// A kernel's buffer in memory is placed like any other; its registers stay.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" : memref<4xf32>
  %r = tir.alloc "r" scope "register" : memref<4xf32>
  %a = tir.load %x[0] : memref<4xf32>
  tir.store %a, %t[0] : memref<4xf32>
  tir.store %a, %r[0] : memref<4xf32>
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<4xf32>, memref<4xf32>
  func.return
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %t: memref<4xf32>) attributes {outputs = 1 : i64, workspaces = 1 : i64} {
// CHECK-NEXT:   %r = tir.alloc "r" scope "register" : memref<4xf32>
// CHECK-NEXT:   %a = tir.load %x[0] : memref<4xf32>
// CHECK-NEXT:   tir.store %a, %t[0] : memref<4xf32>
// CHECK-NEXT:   tir.store %a, %r[0] : memref<4xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
// CHECK-NEXT:   %arena = tir.alloc "arena" scope "global" : memref<64xi8>
// CHECK-NEXT:   %workspace = tir.view %arena[0] : memref<64xi8> to memref<4xf32>
// CHECK-NEXT:   tir.call @f(%x, %y, %workspace) : memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
