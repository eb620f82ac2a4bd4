// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%n: index, %x: memref<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}) attributes {outputs = 0 : i64} {
}
func.func @main(%n: index) attributes {lamina.outputs = 0 : i64} {
  %arena = tir.alloc "arena" scope "global" [128, %n] : memref<128x?xf32>
  // expected-error@+1 {{memref<?x16xf32> at 0 is outside of the arena}}
  %a = tir.view %arena[0] [%n, 16] : memref<128x?xf32> to memref<?x16xf32>
  tir.call @f(%n, %a) : index, memref<?x16xf32>
  func.return
}
