// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A weight by its key; the bytes are beside the module.

tir.func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}
func.func @main(%y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  %w = tir.param #relay.param<"w", "00"> : memref<8xf32>
  tir.call @k(%w, %y) : memref<8xf32>, memref<8xf32>
  func.return
}

// CHECK: %w = tir.param #relay.param<"w", "00"> : memref<8xf32>
// LLVM: params = [#relay.param<"w", "00">]}}
// LLVM: llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}3, 0], [2, 0{{\]\]}}> : tensor<2x2xi64>)
