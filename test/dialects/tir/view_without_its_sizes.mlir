// RUN: opt-tool %s --verify-diagnostics

func.func @main(%n: index) attributes {lamina.outputs = 0 : i64} {
  %arena = tir.alloc "arena" scope "global" [128, %n] : memref<128x?xi8>
  // expected-error@+1 {{sizes are given where an extent is unknown, and nowhere else}}
  %a = tir.view %arena[64] : memref<128x?xi8> to memref<?x16xf32>
  func.return
}
