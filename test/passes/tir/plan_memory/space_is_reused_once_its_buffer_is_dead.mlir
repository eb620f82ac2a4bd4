// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// a is dead when c is born: they share 256 bytes.

tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
}

func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {lamina.outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" : memref<64xf32>
  tir.call @f(%x, %a) : memref<64xf32>, memref<64xf32>
  %b = tir.alloc "b" scope "global" : memref<64xf32>
  tir.call @f(%a, %b) : memref<64xf32>, memref<64xf32>
  %c = tir.alloc "c" scope "global" : memref<64xf32>
  tir.call @f(%b, %c) : memref<64xf32>, memref<64xf32>
  tir.call @f(%c, %y) : memref<64xf32>, memref<64xf32>
  func.return
}

// CHECK-LABEL: tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {lamina.outputs = 1 : i64} {
// CHECK-NEXT:   %arena = tir.alloc "arena" scope "global" : memref<512xi8>
// CHECK-NEXT:   %a = tir.view %arena[0] : memref<512xi8> to memref<64xf32>
// CHECK-NEXT:   tir.call @f(%x, %a) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT:   %b = tir.view %arena[256] : memref<512xi8> to memref<64xf32>
// CHECK-NEXT:   tir.call @f(%a, %b) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT:   %c = tir.view %arena[0] : memref<512xi8> to memref<64xf32>
// CHECK-NEXT:   tir.call @f(%b, %c) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT:   tir.call @f(%c, %y) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
