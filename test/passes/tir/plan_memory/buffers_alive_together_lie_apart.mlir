// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// a is read by the last call: nothing may take its place. Sizes are rounded to 64 bytes.

tir.func @f(%x: memref<3xf32>, %y: memref<3xf32>) attributes {outputs = 1 : i64} {
}
func.func @main(%x: memref<3xf32>, %y: memref<3xf32>) attributes {lamina.outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" : memref<3xf32>
  tir.call @f(%x, %a) : memref<3xf32>, memref<3xf32>
  %b = tir.alloc "b" scope "global" : memref<3xf32>
  tir.call @f(%a, %b) : memref<3xf32>, memref<3xf32>
  tir.call @f(%b, %y) : memref<3xf32>, memref<3xf32>
  tir.call @f(%a, %y) : memref<3xf32>, memref<3xf32>
  func.return
}

// CHECK-LABEL: tir.func @f(%x: memref<3xf32>, %y: memref<3xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: memref<3xf32>, %y: memref<3xf32>) attributes {lamina.outputs = 1 : i64} {
// CHECK-NEXT:   %arena = tir.alloc "arena" scope "global" : memref<128xi8>
// CHECK-NEXT:   %a = tir.view %arena[0] : memref<128xi8> to memref<3xf32>
// CHECK-NEXT:   tir.call @f(%x, %a) : memref<3xf32>, memref<3xf32>
// CHECK-NEXT:   %b = tir.view %arena[64] : memref<128xi8> to memref<3xf32>
// CHECK-NEXT:   tir.call @f(%a, %b) : memref<3xf32>, memref<3xf32>
// CHECK-NEXT:   tir.call @f(%b, %y) : memref<3xf32>, memref<3xf32>
// CHECK-NEXT:   tir.call @f(%a, %y) : memref<3xf32>, memref<3xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
