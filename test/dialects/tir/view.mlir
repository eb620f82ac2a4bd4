// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A buffer in the arena, by its offset in bytes.

tir.func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  %arena = tir.alloc "arena" scope "global" : memref<64xi8>
  %t = tir.view %arena[32] : memref<64xi8> to memref<8xf32>
  tir.call @k(%x, %t) : memref<8xf32>, memref<8xf32>
  tir.call @k(%t, %y) : memref<8xf32>, memref<8xf32>
  func.return
}

// CHECK: %t = tir.view %arena[32] : memref<64xi8> to memref<8xf32>
// LLVM: arena = 64 : i64,
// LLVM: llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}2, 0], [1, 32], [1, 32], [3, 0{{\]\]}}> : tensor<4x2xi64>)
