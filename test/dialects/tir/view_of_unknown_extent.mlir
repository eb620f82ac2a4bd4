// RUN: opt-tool %s | opt-tool | filecheck %s

func.func @main(%n: index) attributes {lamina.outputs = 0 : i64} {
  // CHECK: %arena = tir.alloc "arena" scope "global" [128, %n] : memref<128x?xi8>
  %arena = tir.alloc "arena" scope "global" [128, %n] : memref<128x?xi8>
  // CHECK-NEXT: %a = tir.view %arena[64] [%n, 16] : memref<128x?xi8> to memref<?x16xf32>
  %a = tir.view %arena[64] [%n, 16] : memref<128x?xi8> to memref<?x16xf32>
  func.return
}
